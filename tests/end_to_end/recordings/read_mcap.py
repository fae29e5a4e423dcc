"""Prints what the readers of the format's authors find in MCAP files: a JSON line for each file, with its messages in the order of the file.

Numbers of JSON messages are `{"whole": "1"}` or `{"real": "1.0"}`, so that none is rounded on the way.
"""

import json
import math
import sys
from pathlib import Path

from mcap.reader import NonSeekingReader
from mcap_protobuf.decoder import DecoderFactory as ProtobufDecoderFactory
from mcap_ros1.decoder import DecoderFactory as Ros1DecoderFactory
from mcap_ros2.decoder import DecoderFactory


def no_constant(token):
    # RFC 8259, 6: these are no numbers.
    raise ValueError(token)


def of_json(data):
    numbers = {"parse_int": lambda text: {"whole": text}, "parse_float": lambda text: {"real": text}}
    return json.loads(data, parse_constant=no_constant, **numbers)


def of_ros(value):
    """A decoded message as the JSON messages above; those of Protocol Buffers too."""
    if isinstance(value, bool) or isinstance(value, str):
        return value
    if isinstance(value, int):
        return {"whole": str(value)}
    if isinstance(value, float):
        names = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return {"real": repr(value)} if math.isfinite(value) else names.get(value, "NaN")
    if hasattr(value, "DESCRIPTOR"):
        return {field.name: of_ros(getattr(value, field.name)) for field in value.DESCRIPTOR.fields}
    if hasattr(value, "__slots__"):
        return {name: of_ros(getattr(value, name)) for name in value.__slots__}
    return [of_ros(element) for element in value]


def content(decoders, schema, channel, message):
    """The message, or None if its format has no reader here."""
    try:
        if channel.message_encoding == "json":
            return of_json(message.data)
        found = [factory.decoder_for(channel.message_encoding, schema) for factory in decoders]
        decode = next((decode for decode in found if decode is not None), None)
        return None if decode is None else of_ros(decode(message.data))
    except Exception:  # Each library has its own errors for what it cannot read.
        return None


def read(path):
    decoders = [DecoderFactory(), ProtobufDecoderFactory(), Ros1DecoderFactory()]
    messages = []
    why = None
    try:
        with open(path, "rb") as file:
            reader = NonSeekingReader(file, validate_crcs=True)
            for schema, channel, message in reader.iter_messages(log_time_order=False):
                found = content(decoders, schema, channel, message)
                messages.append({"topic": channel.topic, "time": message.log_time, "content": found})
    except Exception as error:  # Of a cut file, also errors of the compression.
        why = repr(error)
    return {"file": Path(path).name, "error": why, "messages": messages}


for path in sys.argv[1:]:
    print(json.dumps(read(path)))
