#pragma once

#include "row.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Probe types from structs, without a PDL file:
//
//   struct Motor {
//     std::uint32_t rpm = 0;
//     double temperature = 0;
//
//     OASIS_PROBE(Motor, "Plant::Motor", (rpm, "1/min"), (temperature, "Cel", -40, 150, oasis::warn_above(80)))
//   };
//
// The struct is then what `oasis pdl compile` would generate for `NodeBuilder` and `write_row`.

namespace oasis {

/// A member of a metric in the schema, such as its label.
struct Note {
  /// `warn` or `alarm`, or empty.
  std::string group;
  std::string member;
  /// Its value.
  std::string json;
};

namespace detail {

/// A text as JSON.
inline std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      json += '\\';
      json += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      json += "\\u00";
      json += digits[static_cast<unsigned char>(character) >> 4];
      json += digits[static_cast<unsigned char>(character) & 15];
    } else {
      json += character;
    }
  }
  return json + '"';
}

template <class T> inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// A number as JSON, whatever the locale of the program.
template <class T> std::string number_json(T number) {
  static_assert(is_number<T>, "OASIS_PROBE: a limit is a number");
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(number);
  } else if constexpr (is_number<T>) {
    std::string shortest;
    // The fewest digits that mean this number.
    for (int digits = 6; digits <= std::numeric_limits<T>::max_digits10; ++digits) {
      std::ostringstream json;
      json.imbue(std::locale::classic());
      json.precision(digits);
      json << number;
      shortest = json.str();
      std::istringstream back(shortest);
      back.imbue(std::locale::classic());
      T read{};
      if (back >> read && !(read < number) && !(number < read)) break;
    }
    return shortest;
  } else {
    return {};
  }
}

template <class T>
inline constexpr bool is_text = std::is_convertible_v<T, std::string_view> && !std::is_null_pointer_v<T>;

template <class T> Note text_note(std::string_view member, const T &text) {
  static_assert(is_text<T>, "OASIS_PROBE: doc, label and kind take a text");
  if constexpr (is_text<T>) {
    return {"", std::string(member), quoted(text)};
  } else {
    return {};
  }
}

} // namespace detail

/// Documents a metric for people.
template <class T> Note doc(const T &text) { return detail::text_note("doc", text); }
/// A name for people.
template <class T> Note label(const T &text) { return detail::text_note("label", text); }
/// Behavior of a metric over time: "counter", "gauge", "state" or "event".
template <class T> Note kind(const T &text) { return detail::text_note("kind", text); }
/// A warning for values less than this.
template <class T> Note warn_below(T limit) {
  return {"warn", "below", detail::number_json(limit)};
}
/// A warning for values more than this.
template <class T> Note warn_above(T limit) {
  return {"warn", "above", detail::number_json(limit)};
}
/// An alarm for values less than this.
template <class T> Note alarm_below(T limit) {
  return {"alarm", "below", detail::number_json(limit)};
}
/// An alarm for values more than this.
template <class T> Note alarm_above(T limit) {
  return {"alarm", "above", detail::number_json(limit)};
}

namespace detail {

/// Ends the arguments of a metric.
struct End {};

/// Whether a field of this type can be a metric.
template <class T>
inline constexpr bool is_metric = (std::is_integral_v<T> && sizeof(T) <= 8) || std::is_same_v<T, float> ||
                                  std::is_same_v<T, double> || std::is_same_v<T, std::string>;
template <class T, class Allocator> inline constexpr bool is_metric<std::vector<T, Allocator>> = is_metric<T>;

/// The type in the schema.
template <class T> std::string type_json() {
  static_assert(is_metric<T>, "OASIS_PROBE: a field is a bool, a number of up to 64 bits, a std::string or a std::vector "
                              "of these: declare enums and structs in PDL, or leave the field out");
  if constexpr (!is_metric<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, bool>) {
    return "\"boolean\"";
  } else if constexpr (std::is_integral_v<T>) {
    return quoted((std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)));
  } else if constexpr (std::is_same_v<T, float>) {
    return "\"real32\"";
  } else if constexpr (std::is_same_v<T, double>) {
    return "\"real64\"";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "\"string\"";
  } else {
    return "{\"vector\":" + type_json<typename T::value_type>() + "}";
  }
}

/// The fields of a struct that are metrics. A type that cannot be one is refused by `types` alone.
template <class Struct, class... Members> class Fields {
public:
  constexpr Fields() = default;
  explicit constexpr Fields(std::tuple<Members Struct::*...> members) : members_(members) {}

  /// Adds a field, of the struct or of one that it is derived from.
  template <class Owner, class Member> constexpr auto with(Member Owner::*member) const {
    const auto own = static_cast<Member Struct::*>(member);
    return Fields<Struct, Members..., Member>(std::tuple_cat(members_, std::make_tuple(own)));
  }

  static std::vector<std::string> types() { return {type_json<Members>()...}; }

  void put([[maybe_unused]] RowWriter &row, [[maybe_unused]] const Struct &value) const {
    std::apply([&](auto... members) { (put_member(row, value.*members), ...); }, members_);
  }

  Struct get([[maybe_unused]] RowReader &row) const {
    Struct value{};
    std::apply([&](auto... members) { (get_member(row, value.*members), ...); }, members_);
    return value;
  }

private:
  template <class T> static void put_member([[maybe_unused]] RowWriter &row, [[maybe_unused]] const T &value) {
    if constexpr (is_metric<T>) row.put(value);
  }
  template <class T> static void get_member([[maybe_unused]] RowReader &row, [[maybe_unused]] T &value) {
    if constexpr (is_metric<T>) row.get(value);
  }

  std::tuple<Members Struct::*...> members_{};
};

/// A metric of a schema.
class Description {
public:
  explicit Description(std::string_view name) : name_(quoted(name)) {}

  /// The first text is the unit, the first number the least value, the second the greatest.
  template <class T> void take(T argument) {
    constexpr bool is_note = std::is_same_v<T, Note>;
    static_assert(is_note || is_number<T> || is_text<T>,
                  "OASIS_PROBE: after a field stand its unit as a text, its least and greatest value, and notes such as "
                  "oasis::warn_above(80)");
    if constexpr (is_note) {
      notes_.push_back(std::move(argument));
    } else if constexpr (is_number<T>) {
      notes_.push_back({"", numbers_++ == 0 ? "min" : "max", number_json(argument)});
    } else if constexpr (is_text<T>) {
      notes_.push_back({"", "unit", quoted(argument)});
    }
  }
  void take(End) {}

  /// In the order that schemas have.
  std::string json(std::string_view type) const {
    std::string json = "{\"name\":" + name_ + ",\"type\":" + std::string(type);
    for (const char *member : {"doc", "unit", "kind", "label", "min", "max"}) {
      for (const Note &note : notes_) {
        if (note.group.empty() && note.member == member) {
          json += "," + quoted(note.member) + ":" + note.json;
        }
      }
    }
    for (const char *group : {"warn", "alarm"}) {
      std::string members;
      for (const char *member : {"below", "above"}) {
        for (const Note &note : notes_) {
          if (note.group == group && note.member == member) {
            members += (members.empty() ? "" : ",") + quoted(note.member) + ":" + note.json;
          }
        }
      }
      if (!members.empty()) json += "," + quoted(group) + ":{" + members + "}";
    }
    return json + "}";
  }

private:
  std::string name_;
  std::vector<Note> notes_;
  int numbers_ = 0;
};

/// The schema of a struct, without `uuid`: the library computes that from it.
class Declaration {
public:
  template <class T> explicit Declaration(const T &name) {
    static_assert(is_text<T>, "OASIS_PROBE: the second argument is the scoped name of the type, such as \"Plant::Motor\"");
    if constexpr (is_text<T>) name_ = quoted(name);
  }

  template <class... Notes> void metric(std::string_view name, Notes... notes) {
    static_assert((0 + ... + int{is_number<Notes>}) <= 2, "OASIS_PROBE: a field has one least and one greatest value");
    static_assert((0 + ... + int{is_text<Notes>}) <= 1, "OASIS_PROBE: a field has one unit");
    Description &metric = metrics_.emplace_back(name);
    (metric.take(std::move(notes)), ...);
  }

  std::string json(const std::vector<std::string> &types) const {
    std::string json = "{\"name\":" + name_ + ",\"version\":\"1.0\",\"metrics\":[";
    for (std::size_t index = 0; index < metrics_.size(); ++index) {
      json += (index == 0 ? "" : ",") + metrics_[index].json(types[index]);
    }
    return json + "]}";
  }

private:
  std::string name_;
  std::vector<Description> metrics_;
};

/// The schema of a struct where generated code has a constant text.
template <class Probe> struct DeclaredSchema {
  operator std::string() const { return Probe::oasis_schema(); }
};

} // namespace detail
} // namespace oasis

/// In a struct after its fields: makes it a probe type. `STRUCT` is its name, `TYPE` the scoped name of the type, such as "Plant::Motor".
/// Then up to 32 fields in parentheses, in the order of the metrics: the field, and if there are any its unit in UCUM, its least value, its
/// greatest value, and notes such as `oasis::warn_above(80)`. A field that is not listed is no metric. The identity of the type is
/// computed from all this, so another metric makes it another type. No field can be called `schema`, `read` or `write`.
#define OASIS_PROBE(STRUCT, TYPE, ...)                                                             \
  OASIS_EACH_(OASIS_CHECK_, __VA_ARGS__)                                                           \
  static auto oasis_fields() {                                                                     \
    using oasis_struct = STRUCT;                                                                   \
    return ::oasis::detail::Fields<oasis_struct>{} OASIS_EACH_(OASIS_FIELD_, __VA_ARGS__);               \
  }                                                                                                \
  static std::string oasis_schema() {                                                              \
    ::oasis::detail::Declaration oasis_declaration(TYPE);                                          \
    OASIS_EACH_(OASIS_DESCRIBE_, __VA_ARGS__)                                                      \
    return oasis_declaration.json(oasis_fields().types());                                                 \
  }                                                                                                \
  static constexpr ::oasis::detail::DeclaredSchema<STRUCT> schema{};                               \
  void write(::oasis::RowWriter &oasis_values) const { oasis_fields().put(oasis_values, *this); }        \
  static STRUCT read(::oasis::RowReader &oasis_values) { return oasis_fields().get(oasis_values); }

// Each field is named once as code, so that the compiler complains about a wrong name once.
#define OASIS_FIELD_(field) OASIS_IF_FIELD_(field, OASIS_MEMBER_, field)
#define OASIS_MEMBER_(field) .with(&oasis_struct::OASIS_CALL_(OASIS_FIRST_, OASIS_OPEN_ field, ))
#define OASIS_DESCRIBE_(field) OASIS_IF_FIELD_(field, OASIS_METRIC_, field)
#define OASIS_METRIC_(field)                                                                       \
  OASIS_CALL_(OASIS_METRIC_OF_, OASIS_OPEN_ field, ::oasis::detail::End{})
#define OASIS_METRIC_OF_(field, ...) oasis_declaration.metric(#field, __VA_ARGS__);
#define OASIS_CHECK_(field)                                                                        \
  static_assert(OASIS_IS_FIELD_(field), "OASIS_PROBE: write each field in parentheses, such as "   \
                                        "(rpm, \"1/min\"); at least one, at most 32");
#define OASIS_OPEN_(...) __VA_ARGS__
#define OASIS_CALL_(macro, ...) macro(__VA_ARGS__)
#define OASIS_FIRST_(first, ...) first
#define OASIS_SECOND_(first, second, ...) second
// 1 if the argument is in parentheses, else 0.
#define OASIS_IS_FIELD_(field) OASIS_CALL_(OASIS_SECOND_, OASIS_FOUND_ field, 0, )
#define OASIS_FOUND_(...) , 1
#define OASIS_IF_FIELD_(field, macro, argument)                                                    \
  OASIS_CALL_(OASIS_JOIN_, OASIS_IF_, OASIS_IS_FIELD_(field))(macro, argument)
#define OASIS_IF_0(macro, argument)
#define OASIS_IF_1(macro, argument) macro(argument)

// Calls a macro with each of its arguments.
#define OASIS_EACH_(macro, ...)  \
  OASIS_CALL_(OASIS_JOIN_, OASIS_EACH_, OASIS_COUNT_(__VA_ARGS__))(macro, __VA_ARGS__)
#define OASIS_JOIN_(left, right) left##right
#define OASIS_COUNT_(...) OASIS_CALL_(OASIS_NUMBER_, __VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define OASIS_NUMBER_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, number, ...) number
#define OASIS_EACH_1(macro, a) macro(a)
#define OASIS_EACH_2(macro, a, ...) macro(a) OASIS_EACH_1(macro, __VA_ARGS__)
#define OASIS_EACH_3(macro, a, ...) macro(a) OASIS_EACH_2(macro, __VA_ARGS__)
#define OASIS_EACH_4(macro, a, ...) macro(a) OASIS_EACH_3(macro, __VA_ARGS__)
#define OASIS_EACH_5(macro, a, ...) macro(a) OASIS_EACH_4(macro, __VA_ARGS__)
#define OASIS_EACH_6(macro, a, ...) macro(a) OASIS_EACH_5(macro, __VA_ARGS__)
#define OASIS_EACH_7(macro, a, ...) macro(a) OASIS_EACH_6(macro, __VA_ARGS__)
#define OASIS_EACH_8(macro, a, ...) macro(a) OASIS_EACH_7(macro, __VA_ARGS__)
#define OASIS_EACH_9(macro, a, ...) macro(a) OASIS_EACH_8(macro, __VA_ARGS__)
#define OASIS_EACH_10(macro, a, ...) macro(a) OASIS_EACH_9(macro, __VA_ARGS__)
#define OASIS_EACH_11(macro, a, ...) macro(a) OASIS_EACH_10(macro, __VA_ARGS__)
#define OASIS_EACH_12(macro, a, ...) macro(a) OASIS_EACH_11(macro, __VA_ARGS__)
#define OASIS_EACH_13(macro, a, ...) macro(a) OASIS_EACH_12(macro, __VA_ARGS__)
#define OASIS_EACH_14(macro, a, ...) macro(a) OASIS_EACH_13(macro, __VA_ARGS__)
#define OASIS_EACH_15(macro, a, ...) macro(a) OASIS_EACH_14(macro, __VA_ARGS__)
#define OASIS_EACH_16(macro, a, ...) macro(a) OASIS_EACH_15(macro, __VA_ARGS__)
#define OASIS_EACH_17(macro, a, ...) macro(a) OASIS_EACH_16(macro, __VA_ARGS__)
#define OASIS_EACH_18(macro, a, ...) macro(a) OASIS_EACH_17(macro, __VA_ARGS__)
#define OASIS_EACH_19(macro, a, ...) macro(a) OASIS_EACH_18(macro, __VA_ARGS__)
#define OASIS_EACH_20(macro, a, ...) macro(a) OASIS_EACH_19(macro, __VA_ARGS__)
#define OASIS_EACH_21(macro, a, ...) macro(a) OASIS_EACH_20(macro, __VA_ARGS__)
#define OASIS_EACH_22(macro, a, ...) macro(a) OASIS_EACH_21(macro, __VA_ARGS__)
#define OASIS_EACH_23(macro, a, ...) macro(a) OASIS_EACH_22(macro, __VA_ARGS__)
#define OASIS_EACH_24(macro, a, ...) macro(a) OASIS_EACH_23(macro, __VA_ARGS__)
#define OASIS_EACH_25(macro, a, ...) macro(a) OASIS_EACH_24(macro, __VA_ARGS__)
#define OASIS_EACH_26(macro, a, ...) macro(a) OASIS_EACH_25(macro, __VA_ARGS__)
#define OASIS_EACH_27(macro, a, ...) macro(a) OASIS_EACH_26(macro, __VA_ARGS__)
#define OASIS_EACH_28(macro, a, ...) macro(a) OASIS_EACH_27(macro, __VA_ARGS__)
#define OASIS_EACH_29(macro, a, ...) macro(a) OASIS_EACH_28(macro, __VA_ARGS__)
#define OASIS_EACH_30(macro, a, ...) macro(a) OASIS_EACH_29(macro, __VA_ARGS__)
#define OASIS_EACH_31(macro, a, ...) macro(a) OASIS_EACH_30(macro, __VA_ARGS__)
#define OASIS_EACH_32(macro, a, ...) macro(a) OASIS_EACH_31(macro, __VA_ARGS__)
