"""Types in IDL whose messages can lack values: optional members, mutable types, unions. CycloneDDS writes and reads them."""

import typing
from dataclasses import dataclass

from cyclonedds.idl import IdlBitmask, IdlEnum, IdlStruct, IdlUnion, annotations, types

TEXT = """
module plant {
  const short POSITION = 1 << 1 | 1;
  const long NAMES = (POSITION + 2) * 2;
  enum Mode { OFF, ON, @value(7) FAULT };
  @bit_bound(8) bitmask Flags { HOT, @position(POSITION) WET };
  struct Point { octet near; double x; string<NAMES> name; };

  @final struct Reading {
    octet a;
    @optional double b;
    @optional long long c;
    @optional string d;
    @optional sequence<Point, NAMES> e;
    @optional Point f;
    octet last;
  };

  @mutable struct Inner { @optional long x; string name; };

  @mutable struct Pump {
    @key @id(7) long number;
    @optional string name;
    @id(3) double speed;
    @optional @id(100) short level;
    @must_understand octet state;
    sequence<long long> counts;
    sequence<short> shorts;
    sequence<string> tags;
    Mode mode;
    @default(TRUE) boolean on;
    Flags flags;
    double pair[2];
    @optional Point at;
    @optional double pressure;
    Inner inner;
    sequence<Inner> parts;
    unsigned long long big;
  };

  union Value switch (long) {
    case 1:
    case 2: double real;
    case 3: string text;
    case -4: sequence<octet> bytes;
    default: Point point;
  };
  union Detail switch (Mode) { case ON: long long number; case Mode::FAULT: string<20> why; };
  @appendable union Choice switch (octet) { case 0x10: octet yes; case 1: double no; };

  struct Holder {
    octet a;
    Value one;
    sequence<Value> many;
    Detail detail;
    Choice choice;
    Flags flags;
    octet last;
  };
};
"""


class Mode(IdlEnum, typename="plant.Mode", default="OFF"):
    OFF = 0
    ON = 1
    FAULT = 7


@annotations.bit_bound(8)
@dataclass
class Flags(IdlBitmask, typename="plant.Flags"):
    HOT: bool = False
    annotations.position("HOT", 0)
    WET: bool = False
    annotations.position("WET", 3)


@dataclass
class Point(IdlStruct, typename="plant.Point"):
    near: types.uint8
    x: types.float64
    name: str


@dataclass
@annotations.final
class Reading(IdlStruct, typename="plant.Reading"):
    a: types.uint8
    b: typing.Optional[types.float64]
    c: typing.Optional[types.int64]
    d: typing.Optional[str]
    e: typing.Optional[types.sequence[Point]]
    f: typing.Optional[Point]
    last: types.uint8


@dataclass
@annotations.mutable
class Inner(IdlStruct, typename="plant.Inner"):
    x: typing.Optional[types.int32]
    name: str


@dataclass
@annotations.mutable
class Pump(IdlStruct, typename="plant.Pump"):
    number: types.int32
    annotations.key("number")
    annotations.member_id("number", 7)
    name: typing.Optional[str]
    speed: types.float64
    annotations.member_id("speed", 3)
    level: typing.Optional[types.int16]
    annotations.member_id("level", 100)
    state: types.uint8
    annotations.must_understand("state")
    counts: types.sequence[types.int64]
    shorts: types.sequence[types.int16]
    tags: types.sequence[str]
    mode: Mode
    on: bool
    flags: Flags
    pair: types.array[types.float64, 2]
    at: typing.Optional[Point]
    pressure: typing.Optional[types.float64]
    inner: Inner
    parts: types.sequence[Inner]
    big: types.uint64


class Value(IdlUnion, discriminator=types.int32, typename="plant.Value"):
    real: types.case[[1, 2], types.float64]
    text: types.case[3, str]
    bytes: types.case[-4, types.sequence[types.uint8]]
    point: types.default[Point]


class Detail(IdlUnion, discriminator=Mode, typename="plant.Detail"):
    number: types.case[Mode.ON, types.int64]
    why: types.case[Mode.FAULT, str]


@annotations.appendable
class Choice(IdlUnion, discriminator=types.uint8, typename="plant.Choice"):
    yes: types.case[16, types.uint8]
    no: types.case[1, types.float64]


@dataclass
class Holder(IdlStruct, typename="plant.Holder"):
    a: types.uint8
    one: Value
    many: types.sequence[Value]
    detail: Detail
    choice: Choice
    flags: Flags
    last: types.uint8


POINT = {"near": 0, "x": float("nan"), "name": ""}
# The members of a union with their placeholders, and the member of each label.
UNIONS = {
    Value: ({"real": float("nan"), "text": "", "bytes": [], "point": POINT}, {1: "real", 2: "real", 3: "text", -4: "bytes"}, "point"),
    Detail: ({"number": 0, "why": ""}, {1: "number", 7: "why"}, None),
    Choice: ({"yes": 0, "no": float("nan")}, {16: "yes", 1: "no"}, None),
}
# Placeholders of optional members.
PLACEHOLDERS = {
    Reading: {"b": float("nan"), "c": 0, "d": "", "e": [], "f": POINT},
    Inner: {"x": 0},
    Pump: {"name": "", "level": 0, "at": POINT, "pressure": float("nan")},
}


def row(value):
    """The values of a sample, with a placeholder and a name for each absent one."""
    absent = []
    values = content(value, "", absent)
    return {**values, "oasis.absent": absent}


def content(value, place, absent):
    if isinstance(value, Mode):
        return value.value
    if isinstance(value, Flags):
        return value.as_mask()
    if isinstance(value, (list, tuple)):
        return [content(element, f"{place}[{at}]", absent) for at, element in enumerate(value)]
    if isinstance(value, IdlUnion):
        return chosen(value, place, absent)
    if not isinstance(value, IdlStruct):
        return value
    values = {}
    for name in type(value).__dataclass_fields__:
        of = getattr(value, name)
        within = f"{place}.{name}" if place else name
        values[name] = content(of, within, absent) if of is not None else lacking(PLACEHOLDERS[type(value)][name], within, absent)
    return values


def chosen(value, place, absent):
    members, labels, default = UNIONS[type(value)]
    number = content(value.discriminator, place, absent)
    name = labels.get(number, default)
    values = {"discriminator": number}
    for member, placeholder in members.items():
        within = f"{place}.{member}"
        values[member] = content(value.value, within, absent) if member == name else lacking(placeholder, within, absent)
    return values


def lacking(placeholder, place, absent):
    """NaN says by itself that a value is absent."""
    if isinstance(placeholder, dict):
        return {name: lacking(of, f"{place}.{name}", absent) for name, of in placeholder.items()}
    if placeholder == placeholder:
        absent.append(place)
    return placeholder


def text(chance):
    return "".join(chance.choice("ab\u00e9\u7089") for _ in range(chance.randrange(5)))


def many(chance, of):
    return [of() for _ in range(chance.randrange(4))]


def maybe(chance, of):
    return of() if chance.random() < 0.5 else None


def point(chance):
    return Point(chance.randrange(256), chance.uniform(-9, 9), text(chance))


def flags(chance):
    return Flags(HOT=chance.random() < 0.5, WET=chance.random() < 0.5)


def reading(chance):
    return Reading(
        a=chance.randrange(256),
        b=maybe(chance, chance.random),
        c=maybe(chance, lambda: chance.randrange(-(2**63), 2**63)),
        d=maybe(chance, lambda: text(chance)),
        e=maybe(chance, lambda: many(chance, lambda: point(chance))),
        f=maybe(chance, lambda: point(chance)),
        last=chance.randrange(256),
    )


def inner(chance):
    return Inner(maybe(chance, lambda: chance.randrange(-9, 9)), text(chance))


def pump(chance):
    return Pump(
        number=chance.randrange(-9, 9),
        name=maybe(chance, lambda: text(chance)),
        speed=chance.random(),
        level=maybe(chance, lambda: chance.randrange(-9, 9)),
        state=chance.randrange(256),
        counts=many(chance, lambda: chance.randrange(-(2**63), 2**63)),
        shorts=many(chance, lambda: chance.randrange(-9, 9)),
        tags=many(chance, lambda: text(chance)),
        mode=chance.choice(list(Mode)),
        on=chance.random() < 0.5,
        flags=flags(chance),
        pair=[chance.random(), chance.random()],
        at=maybe(chance, lambda: point(chance)),
        pressure=maybe(chance, chance.random),
        inner=inner(chance),
        parts=many(chance, lambda: inner(chance)),
        big=chance.randrange(2**64),
    )


def value(chance):
    number = chance.choice([1, 2, 3, -4, 9])
    of = {1: chance.random, 2: chance.random, 3: lambda: text(chance), -4: lambda: many(chance, lambda: chance.randrange(256))}
    return Value(discriminator=number, value=of.get(number, lambda: point(chance))())


def holder(chance):
    mode = chance.choice(list(Mode))
    detail = {Mode.OFF: lambda: None, Mode.ON: lambda: chance.randrange(-9, 9), Mode.FAULT: lambda: text(chance)}
    chosen_by = chance.choice([0, 1, 16])
    choice = {0: lambda: None, 1: chance.random, 16: lambda: chance.randrange(256)}
    return Holder(
        a=chance.randrange(256),
        one=value(chance),
        many=many(chance, lambda: value(chance)),
        detail=Detail(discriminator=mode, value=detail[mode]()),
        choice=Choice(discriminator=chosen_by, value=choice[chosen_by]()),
        flags=flags(chance),
        last=chance.randrange(256),
    )


TYPES = [("plant::Reading", TEXT, reading), ("plant::Pump", TEXT, pump), ("plant::Holder", TEXT, holder)]
