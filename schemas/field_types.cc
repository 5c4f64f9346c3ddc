#include "schemas/field_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.h"
#include "base/time.h"

namespace mindgate::schemas {
namespace {

using json::Json;

// A message lists the words or keys that would do when there are at most so many.
constexpr size_t kMaxListed = 12;

bool IsWhole(const Json& value) {
  const auto* number = value.get_ptr<const Json::number_float_t*>();
  return value.is_number_integer() ||
         (number != nullptr && std::trunc(*number) == *number);  // 3.0 is one in draft 7
}

bool HasType(const Json& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  return IsWhole(value);
}

// "array" to JSON Schema, a list to those who write YAML.
std::string_view WordFor(std::string_view type) { return type == "array" ? "list" : type; }

std::string Show(const Json& value) {
  if (const auto text = json::AsString(&value)) return Quote(*text);
  if (value.is_structured()) return WithArticle(json::TypeName(value));
  return value.dump();
}

// Bounds of a value, and how to talk about them.
struct Bounds {
  int64_t min;
  int64_t max;
  const char* too_low;
  const char* too_high;
  std::string (*show)(int64_t);

  // `number` has 64 bits of mantissa: enough for every integer of JSON.
  bool Check(const Field& field, long double number) const {
    if (number >= static_cast<long double>(min) && number <= static_cast<long double>(max)) {
      return true;
    }
    const bool low = number < static_cast<long double>(min);
    field.Fault(Show(field.value) + (low ? too_low : too_high),
                "write " + show(low ? min : max) + (low ? " or more" : " or less"));
    return false;
  }
};
static_assert(std::numeric_limits<long double>::digits >= 64);

Type<std::string> TextOfLength(size_t min, OrderedJson keywords) {
  return {{"string"},
          std::move(keywords),
          [min](const Field& field, std::string& out) {
            const auto& text = field.value.get_ref<const std::string&>();
            if (text.size() < min) return field.Fault("must not be empty");
            out = text;
          },
          [](const std::string& text) -> OrderedJson {
            if (text.empty()) return nullptr;
            return text;
          }};
}

constexpr std::string_view kItem = "[]";

}  // namespace

bool HasOneOf(const TypeNames& types, const Json& value) {
  return std::any_of(types.begin(), types.end(),
                     [&value](std::string_view type) { return HasType(value, type); });
}

bool CheckType(const TypeNames& types, const Field& field) {
  if (types.empty() || HasOneOf(types, field.value)) return true;
  std::vector<std::string> wanted;
  for (const std::string_view type : types) wanted.push_back(WithArticle(WordFor(type)));
  std::string hint;
  if (types.front() == "string" && field.value.is_primitive() && !field.value.is_null()) {
    hint = "quote it: \"" + field.value.dump() + "\"";
  }
  field.Fault(
      "must be " + Join(wanted, " or ") + ", not " + WithArticle(json::TypeName(field.value)),
      std::move(hint));
  return false;
}

OrderedJson SchemaOf(const TypeNames& types, const OrderedJson& keywords) {
  OrderedJson schema = OrderedJson::object();
  if (types.size() == 1) schema["type"] = types.front();
  if (types.size() > 1) schema["type"] = types;
  schema.update(keywords);
  return schema;
}

OrderedJson DocumentSchema(std::string_view title, std::string_view description,
                           const OrderedJson& schema) {
  OrderedJson document = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                          {"title", title},
                          {"description", description}};
  document.update(schema);
  return document;
}

Type<std::string> Text() { return TextOfLength(0, OrderedJson::object()); }
Type<std::string> NonEmptyText() { return TextOfLength(1, {{"minLength", 1}}); }

Type<int64_t> Whole(int64_t min, int64_t max) {
  const Bounds bounds{min, max, " is too small", " is too large",
                      [](int64_t number) { return std::to_string(number); }};
  return {{"integer"},
          {{"minimum", min}, {"maximum", max}},
          [bounds](const Field& field, int64_t& out) {
            const auto number = field.value.get<long double>();
            if (bounds.Check(field, number)) out = static_cast<int64_t>(number);
          },
          [](int64_t number) { return OrderedJson(number); }};
}

Type<bool> Boolean() {
  const auto read = [](const Field& field, bool& out) {
    const auto word = json::AsString(&field.value);
    if (const auto truth = json::AsBool(&field.value)) {
      out = *truth;
    } else if (word == "on" || word == "off") {
      out = word == "on";
      field.reading.Warn(field.path, Quote(*word) + " is an old spelling",
                         out ? "write true" : "write false");
    } else {
      field.Fault(Show(field.value) + " is not allowed here: must be true or false",
                  word == "true" || word == "false" ? "write it without quotes" : "");
    }
  };
  return {{}, {{"enum", {true, false, "on", "off"}}}, read, [](bool truth) {
            return OrderedJson(truth);
          }};
}

Type<std::chrono::seconds> Duration(std::chrono::seconds min, std::chrono::seconds max) {
  using std::chrono::seconds;
  const Bounds bounds{min.count(), max.count(), " is too short", " is too long",
                      [](int64_t count) { return FormatDuration(seconds(count)); }};
  const auto read = [bounds](const Field& field, seconds& out) {
    const auto text = json::AsString(&field.value);
    const auto duration = text ? ParseDuration(*text) : std::nullopt;
    if (duration) {
      if (bounds.Check(field, duration->count())) out = *duration;
    } else if (IsWhole(field.value)) {
      const auto number = field.value.get<long double>();
      if (!bounds.Check(field, number)) return;
      out = seconds(static_cast<int64_t>(number));
      field.reading.Warn(field.path, field.value.dump() + " has no unit and is read as seconds",
                         "write " + FormatDuration(out));
    } else {
      field.Fault(text ? Quote(*text) + " is not a duration of at most a year"
                       : "must be a duration, not " + WithArticle(json::TypeName(field.value)),
                  "write 90s, 5m, 1h or 1m30s");
    }
  };
  return {{},
          {{"type", {"string", "integer"}},
           {"pattern", "^([0-9]+[hms])+$"},
           {"minimum", min.count()},
           {"maximum", max.count()}},
          read,
          [](seconds duration) { return OrderedJson(FormatDuration(duration)); }};
}

Type<const Json*> Raw(TypeNames types) {
  return {std::move(types), OrderedJson::object(),
          [](const Field& field, const Json*& out) { out = &field.value; }};
}

Type<std::string> Word(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const std::string& word : words) choices.emplace_back(word, word);
  return Choice(choices);
}

OrderedJson ChoiceSchema(const std::vector<std::string>& words) {
  OrderedJson allowed = words;
  const auto has = [&words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("on")) allowed.push_back(true);
  if (has("off")) allowed.push_back(false);
  return {{"enum", std::move(allowed)}};
}

std::optional<size_t> ReadChoice(const std::vector<std::string>& words, const Field& field) {
  const auto text = json::AsString(&field.value);
  const auto truth = json::AsBool(&field.value);
  const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return text ? word == *text : truth && word == (*truth ? "on" : "off");
  });
  if (found != words.end()) return static_cast<size_t>(found - words.begin());

  std::vector<std::string_view> near_misses(words.begin(), words.end());
  std::string hint;
  if (text) {
    if (const auto near = NearestOf(*text, near_misses)) {
      hint = "did you mean " + Quote(*near) + "?";
    }
  }
  std::string message = Show(field.value) + " is not allowed here";
  if (truth) {
    message += *truth ? " (YAML reads on, yes and true as true)"
                      : " (YAML reads off, no and false as false)";
    if (*truth && std::erase(near_misses, "off") > 0) {
      std::erase(near_misses, "");
      hint = "write " + OneOf(near_misses) + " to switch it on";
    }
  }
  if (words.size() <= kMaxListed) {
    message += ": must be " + OneOf(std::vector<std::string_view>(words.begin(), words.end()));
  }
  field.Fault(std::move(message), std::move(hint));
  return std::nullopt;
}

void CheckLength(const Field& field, size_t min) {
  if (field.value.size() >= min) return;
  field.Fault("needs at least " + Counted(static_cast<int64_t>(min), "item"));
}

OrderedJson ListSchema(OrderedJson items, size_t min) {
  OrderedJson schema = OrderedJson::object();
  if (min > 0) schema["minItems"] = min;
  schema["items"] = std::move(items);
  return schema;
}

OrderedJson ObjectSchema(OrderedJson properties, const std::vector<std::string>& required) {
  OrderedJson schema = {{"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  schema["properties"] = std::move(properties);
  return schema;
}

void CheckRequired(const std::vector<std::string>& required, const Field& field) {
  for (const std::string& name : required) {
    if (field.value.contains(name)) continue;
    field.reading.Fault(json::Child(field.path, name), Quote(name) + " is missing",
                        "add " + name + ":");
  }
}

KeyHomes::KeyHomes(const OrderedJson& schema) { Add(schema, ""); }

// The paths are "service.router", "cases[]", "profiles.<name>".
void KeyHomes::Add(const OrderedJson& schema, const std::string& path) {
  if (!schema.is_object()) return;
  const auto below = [&path](const std::string& name) {
    return path.empty() ? name : path + "." + name;
  };
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    for (const auto& [name, value] : properties->items()) {
      holders_[name].insert(path);
      Add(value, below(name));
    }
  }
  if (const auto items = schema.find("items"); items != schema.end()) {
    Add(*items, path + std::string(kItem));
  }
  if (const auto others = schema.find("additionalProperties"); others != schema.end()) {
    Add(*others, below("<name>"));
  }
}

std::optional<std::string> KeyHomes::Find(std::string_view key) const {
  const auto found = holders_.find(key);
  if (found == holders_.end() || found->second.size() != 1) return std::nullopt;
  const std::string& holder = *found->second.begin();
  if (holder.empty()) return "at the top";
  if (!holder.ends_with(kItem)) return "under " + holder;
  return "in an item of " + holder.substr(0, holder.size() - kItem.size());
}

void ReportUnknownKey(const std::string& name, const std::vector<std::string_view>& known,
                      const std::string& hint, const Field& field) {
  std::string what = hint;
  if (const auto near = NearestOf(name, known)) {
    what = "did you mean " + Quote(*near) + "?";
  } else if (const auto home = field.reading.HomeOf(name)) {
    what = "write it " + *home;
  } else if (known.size() <= kMaxListed) {
    what = "known keys: " + Join(known, ", ");
  }
  field.Fault("unknown key " + Quote(name), std::move(what));
}

}  // namespace mindgate::schemas
