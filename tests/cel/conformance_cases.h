#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/program.h"
#include "cel/time_zone.h"
#include "cel/value.h"
#include "json/value.h"
#include "support/golden.h"

// The cases of tests/oracle/cel, and how one is run.
namespace mindgate::testing {

using json::Json;

struct ConformanceCase {
  std::string name;  // "lists/index/singleton"; with #2 when the name is there before
  Json test;
};

inline std::vector<ConformanceCase> ReadConformanceCases() {
  std::vector<ConformanceCase> cases;
  std::map<std::string, int> names;
  for (const std::string file :
       {"basic",        "bindings_ext", "block_ext",      "comparisons", "conversions",
        "dynamic",      "encoders_ext", "enums",          "fields",      "fp_math",
        "integer_math", "lists",        "logic",          "macros",      "macros2",
        "math_ext",     "namespace",    "network_ext",    "optionals",   "parse",
        "plumbing",     "proto2",       "proto2_ext",     "proto3",      "string",
        "string_ext",   "timestamps",   "type_deduction", "unknowns",    "wrappers"}) {
    const Json read = Json::parse(ReadSource("tests/oracle/cel/" + file + ".json"));
    for (const Json& section : read.value("section", Json::array())) {
      for (const Json& test : section.value("test", Json::array())) {
        std::string name = file + "/" + section.at("name").get<std::string>() + "/" +
                           test.at("name").get<std::string>();
        if (const int before = names[name]++; before > 0) {
          name += "#" + std::to_string(before + 1);
        }
        cases.push_back({name, test});
      }
    }
  }
  return cases;
}

// The text of a type; nothing for what needs messages.
inline std::string TypeText(const Json& type) {
  const auto list = [](const Json& types) {
    std::string out;
    for (const Json& one : types) out += (out.empty() ? "" : ", ") + TypeText(one);
    return out;
  };
  if (type.contains("primitive")) {
    const std::string name = type["primitive"];
    if (name == "INT64") return "int";
    if (name == "UINT64") return "uint";
    std::string lower;
    for (const char c : name) lower += static_cast<char>(std::tolower(c));
    return lower;
  }
  if (type.contains("null")) return "null_type";
  if (type.contains("dyn")) return "dyn";
  if (type.contains("type_param")) return type["type_param"];
  if (type.contains("list_type")) return "list(" + TypeText(type["list_type"]["elem_type"]) + ")";
  if (type.contains("map_type")) {
    return "map(" + TypeText(type["map_type"]["key_type"]) + ", " +
           TypeText(type["map_type"]["value_type"]) + ")";
  }
  if (type.contains("abstract_type")) {
    const Json& abstract = type["abstract_type"];
    return abstract["name"].get<std::string>() + "(" + list(abstract["parameter_types"]) + ")";
  }
  if (type.contains("message_type")) {
    const std::string name = type["message_type"];
    if (name == "google.protobuf.Timestamp") return "timestamp";
    if (name == "google.protobuf.Duration") return "duration";
    return name;
  }
  if (type.contains("well_known"))
    return type["well_known"] == "DURATION" ? "duration" : "timestamp";
  return "unknown";
}

// Runs cases. What they say of messages fails.
class ConformanceRun {
 public:
  // Why the case fails, or nothing.
  static std::optional<std::string> Run(const Json& test) { return ConformanceRun(test).RunAll(); }

 private:
  explicit ConformanceRun(const Json& test) : test_(test) {
    environment_.container = test.value("container", "");
    environment_.check_types = !test.value("disable_check", false);
    environment_.blocks = true;
    environment_.dialect = cel::Dialect::kSpecification;
  }

  std::optional<std::string> RunAll() {
    for (const Json& declared : test_.value("type_env", Json::array())) Declare(declared);
    const Json bindings = test_.value("bindings", Json::object());
    for (const auto& [name, bound] : bindings.items()) {
      const auto known = std::ranges::find(environment_.variables, name, &cel::Variable::name);
      if (known == environment_.variables.end()) environment_.variables.push_back({name, "dyn"});
    }
    const std::string expression = test_.at("expr");
    const auto program = cel::Compile(expression, environment_);
    const bool fails = test_.contains("eval_error") || test_.contains("any_eval_errors");
    if (!program) {
      if (fails) return std::nullopt;
      return json::Render(program.error(), "expression", expression);
    }
    if (test_.contains("typed_result")) {
      const std::string type =
          TypeText(test_["typed_result"].value("deduced_type", Json::object()));
      if (program->type() != type) return "the type is " + program->type() + ", not " + type;
    }
    if (test_.value("check_only", false)) return std::nullopt;
    return Evaluate(*program, bindings, fails);
  }

  void Declare(const Json& declared) {
    const std::string name = declared.at("name");
    if (declared.contains("ident")) {
      environment_.variables.push_back({name, TypeText(declared["ident"]["type"])});
    }
    for (const Json& overload :
         declared.value("function", Json::object()).value("overloads", Json::array())) {
      std::string signature;
      for (const Json& type : overload.value("params", Json::array())) {
        signature += (signature.empty() ? "(" : ", ") + TypeText(type);
      }
      environment_.functions.push_back(
          {name, signature + "): " + TypeText(overload.at("result_type"))});
    }
  }

  std::optional<std::string> Evaluate(const cel::Program& program, const Json& bindings,
                                      bool fails) {
    std::vector<cel::Value> row;
    for (const cel::Variable& variable : environment_.variables) {
      if (!bindings.contains(variable.name)) break;
      const auto value = ValueOf(bindings[variable.name].value("value", Json()));
      if (!value) return "a variable is a message";
      row.push_back(*value);
    }
    cel::Values values(row);
    const auto result = program.Evaluate(values, arena_);
    if (fails) {
      return result ? std::optional<std::string>("it has a value") : std::nullopt;
    }
    if (!result) return result.error().message;
    Json wanted = test_.value("value", Json({{"bool_value", true}}));
    if (test_.contains("typed_result")) wanted = test_["typed_result"]["result"];
    const auto value = ValueOf(wanted);
    if (!value) return "the result is a message";
    return Same(*result, *value) ? std::nullopt : std::optional<std::string>("another value");
  }

  std::string_view Keep(const std::string& text) { return arena_.Text(text); }

  std::optional<cel::Value> ValueOf(const Json& value) {
    for (const auto& [kind, content] : value.items()) {
      if (kind == "null_value") return cel::Value();
      if (kind == "bool_value") return cel::Value::OfBool(content.get<bool>());
      if (kind == "int64_value") return cel::Value::OfInt(std::stoll(content.get<std::string>()));
      if (kind == "uint64_value") {
        return cel::Value::OfUint(std::stoull(content.get<std::string>()));
      }
      if (kind == "double_value") return cel::Value::OfDouble(NumberOf(content));
      if (kind == "string_value") return cel::Value::OfString(Keep(content));
      if (kind == "type_value") return cel::Value::OfType(Keep(content));
      if (kind == "bytes_value") {
        return cel::DecodedBase64(context_, Keep(content));
      }
      if (kind == "list_value") return ListOf(content.value("values", Json::array()));
      if (kind == "map_value") return MapOf(content.value("entries", Json::array()));
      if (kind == "object_value") return WellKnown(content);
    }
    return std::nullopt;
  }

  static double NumberOf(const Json& number) {
    if (!number.is_string()) return number.get<double>();
    if (number == "Infinity") return INFINITY;
    return number == "-Infinity" ? -INFINITY : NAN;
  }

  std::optional<cel::Value> ListOf(const Json& items) {
    auto* row = arena_.Row<cel::Value>(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const auto item = ValueOf(items[i]);
      if (!item) return std::nullopt;
      row[i] = *item;
    }
    return cel::Value::OfItems({row, items.size()});
  }

  std::optional<cel::Value> MapOf(const Json& entries) {
    auto* row = arena_.Row<cel::Entry>(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto key = ValueOf(entries[i]["key"]);
      const auto value = ValueOf(entries[i]["value"]);
      if (!key || !value) return std::nullopt;
      row[i] = {*key, *value};
    }
    cel::SortEntries({row, entries.size()});
    return cel::Value::OfEntries({row, entries.size()});
  }

  // Timestamps and durations are the messages that are there.
  std::optional<cel::Value> WellKnown(const Json& message) {
    const std::string type = message.value("@type", "");
    const bool time = type.ends_with(".Timestamp");
    if (!time && !type.ends_with(".Duration")) return std::nullopt;
    const std::string text = message.at("value");
    const auto program =
        cel::Compile((time ? "timestamp('" : "duration('") + text + "')", cel::Environment{});
    cel::Values none({});
    const auto value = program->Evaluate(none, arena_);
    return value ? std::optional(*value) : std::nullopt;
  }

  // The same kind and the same value: 1 is not 1.0.
  static bool Same(const cel::Value& a, const cel::Value& b) {
    if (a.kind() != b.kind()) return false;
    if (a.is_list()) {
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i) {
        if (!Same(a.At(i), b.At(i))) return false;
      }
      return true;
    }
    if (a.is_map()) {
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i) {
        if (!Same(a.KeyAt(i), b.KeyAt(i)) || !Same(a.ValueAt(i), b.ValueAt(i))) return false;
      }
      return true;
    }
    if (a.kind() == cel::Kind::kDouble && std::isnan(a.number())) return std::isnan(b.number());
    return cel::EqualScalars(a, b);
  }

  const Json& test_;
  cel::Environment environment_;
  json::Arena arena_{1 << 16};
  const cel::Limits limits_;
  const cel::Patterns patterns_;
  cel::Context context_{arena_, limits_, patterns_};
};

}  // namespace mindgate::testing
