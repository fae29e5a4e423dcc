#pragma once

#include "row.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
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

/// A number as JSON, whatever the locale of the program.
template <class T> std::string number_json(T number) {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "a limit is a number");
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(number);
  } else {
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
  }
}

} // namespace detail

/// Documents a metric for people.
inline Note doc(std::string_view text) { return {"", "doc", detail::quoted(text)}; }
/// A name for people.
inline Note label(std::string_view text) { return {"", "label", detail::quoted(text)}; }
/// Behavior of a metric over time: "counter", "gauge", "state" or "event".
inline Note kind(std::string_view text) { return {"", "kind", detail::quoted(text)}; }
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

template <class> inline constexpr bool is_metric = false;

/// The type in the schema.
template <class T> std::string type_json() {
  if constexpr (std::is_same_v<T, bool>) {
    return "\"boolean\"";
  } else if constexpr (std::is_integral_v<T>) {
    return quoted((std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)));
  } else if constexpr (std::is_same_v<T, float>) {
    return "\"real32\"";
  } else if constexpr (std::is_same_v<T, double>) {
    return "\"real64\"";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "\"string\"";
  } else if constexpr (IsVector<T>::value) {
    return "{\"vector\":" + type_json<typename T::value_type>() + "}";
  } else {
    static_assert(is_metric<T>, "a field of OASIS_PROBE is a bool, a number, a std::string or a std::vector of "
                                "these: declare enums and structs in PDL, or leave the field out");
    return {};
  }
}

/// A metric of a schema.
class Description {
public:
  Description(std::string_view name, std::string type) : name_(quoted(name)), type_(std::move(type)) {}

  void take(const char *unit) { notes_.push_back({"", "unit", quoted(unit)}); }
  void take(Note note) { notes_.push_back(std::move(note)); }
  void take(End) {}

  /// The first number is the least value, the second the greatest.
  template <class T> std::enable_if_t<std::is_arithmetic_v<T>> take(T number) {
    notes_.push_back({"", numbers_++ == 0 ? "min" : "max", number_json(number)});
  }

  /// In the order that schemas have.
  std::string json() const {
    std::string json = "{\"name\":" + name_ + ",\"type\":" + type_;
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
  std::string type_;
  std::vector<Note> notes_;
  int numbers_ = 0;
};

template <class T, class... Notes> std::string metric(std::string_view name, Notes... notes) {
  Description description(name, type_json<T>());
  (description.take(std::move(notes)), ...);
  return description.json();
}

/// The schema of a struct, without `uuid`: the library computes that from it.
inline std::string declared_schema(std::string_view name, const std::vector<std::string> &metrics) {
  std::string json = "{\"name\":" + quoted(name) + ",\"version\":\"1.0\",\"metrics\":[";
  for (std::size_t index = 0; index < metrics.size(); ++index) {
    json += (index == 0 ? "" : ",") + metrics[index];
  }
  return json + "]}";
}

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
  static std::string oasis_schema() {                                                              \
    return ::oasis::detail::declared_schema(TYPE, {OASIS_EACH_(OASIS_DESCRIBE_, __VA_ARGS__)});    \
  }                                                                                                \
  static constexpr ::oasis::detail::DeclaredSchema<STRUCT> schema{};                               \
  void write(::oasis::RowWriter &oasis_row) const { OASIS_EACH_(OASIS_PUT_, __VA_ARGS__) }         \
  static STRUCT read(::oasis::RowReader &oasis_row) {                                              \
    STRUCT oasis_value{};                                                                          \
    OASIS_EACH_(OASIS_GET_, __VA_ARGS__)                                                           \
    return oasis_value;                                                                            \
  }

#define OASIS_DESCRIBE_(field)                                                                     \
  OASIS_CALL_(OASIS_DESCRIBE_FIELD_, OASIS_OPEN_ field, ::oasis::detail::End{}),
#define OASIS_DESCRIBE_FIELD_(field, ...)                                                          \
  ::oasis::detail::metric<decltype(field)>(#field, __VA_ARGS__)
#define OASIS_PUT_(field) OASIS_CALL_(OASIS_PUT_FIELD_, OASIS_OPEN_ field, 0)
#define OASIS_PUT_FIELD_(field, ...) oasis_row.put(field);
#define OASIS_GET_(field) OASIS_CALL_(OASIS_GET_FIELD_, OASIS_OPEN_ field, 0)
#define OASIS_GET_FIELD_(field, ...) oasis_row.get(oasis_value.field);
#define OASIS_OPEN_(...) __VA_ARGS__
#define OASIS_CALL_(macro, ...) macro(__VA_ARGS__)

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
