#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json/pointer.h"
#include "schemas/reading.h"

// The formats of mindgate.yaml, test suites and scenarios are tables of keys. One table is the
// reader (all faults at once, each with its place), the JSON Schema and the documentation.
namespace mindgate::schemas {

using OrderedJson = nlohmann::ordered_json;
using TypeNames = std::vector<std::string_view>;  // of JSON Schema: "integer", "null"

bool HasOneOf(const TypeNames& types, const json::Json& value);
// The same; reports a value that has none of them.
bool CheckType(const TypeNames& types, const Field& field);
// A schema's "type" for these, nothing for none.
OrderedJson SchemaOf(const TypeNames& types, const OrderedJson& keywords);
// The JSON Schema (draft 7) of a whole document.
OrderedJson DocumentSchema(std::string_view title, std::string_view description,
                           const OrderedJson& schema);

// The type of a value in a file: its JSON Schema (draft 7), and how it is read into a T. A faulty
// value is reported and leaves the T as it was, apart from the sound members of an object.
template <typename T>
struct Type {
  using Read = std::function<void(const Field&, T&)>;
  using Write = std::function<OrderedJson(const T&)>;

  // `read` gets only values of `types`; with none it gets every value, and `words` say all.
  Type(TypeNames names, OrderedJson words, Read reads, Write writes = {})
      : types(std::move(names)), keywords(std::move(words)), write(std::move(writes)) {
    if (keywords.is_null()) keywords = OrderedJson::object();  // "{}" gives null
    read = [allowed = types, inner = std::move(reads)](const Field& field, T& out) {
      if (CheckType(allowed, field)) inner(field, out);
    };
  }

  OrderedJson Schema() const { return SchemaOf(types, keywords); }

  // An empty value ("rules:" alone) is taken for an absent one.
  Type OrNull() && {
    types.emplace_back("null");
    read = [inner = std::move(read)](const Field& field, T& out) {
      if (!field.value.is_null()) inner(field, out);
    };
    return std::move(*this);
  }

  TypeNames types;
  OrderedJson keywords;
  Read read;
  Write write;  // a default as JSON; empty for types without one
};

Type<std::string> Text();
Type<std::string> NonEmptyText();
Type<int64_t> Whole(int64_t min, int64_t max);  // 3.0 is one

// true or false. "on" and "off" in quotes are accepted with a warning; without quotes YAML reads
// them as booleans.
Type<bool> Boolean();

// "90s", "5m", "1h30m". A plain number counts as seconds, with a warning.
Type<std::chrono::seconds> Duration(std::chrono::seconds min, std::chrono::seconds max);

// The value itself, for what is read elsewhere.
Type<const json::Json*> Raw(TypeNames types);

// The schema of a choice, and the index of the word that the field is, else a fault. The words on
// and off may be booleans, since YAML reads them so.
OrderedJson ChoiceSchema(const std::vector<std::string>& words);
std::optional<size_t> ReadChoice(const std::vector<std::string>& words, const Field& field);

template <typename T>
Type<T> Choice(const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  return {{},
          ChoiceSchema(words),
          [words, choices](const Field& field, T& out) {
            if (const auto index = ReadChoice(words, field)) out = choices[*index].second;
          },
          [choices](const T& value) -> OrderedJson {
            for (const auto& [word, each] : choices) {
              if (each == value) return word;
            }
            return nullptr;
          }};
}

// Words that mean themselves.
Type<std::string> Word(const std::vector<std::string>& words);

// Reads `field` into `out`; false when it added a fault.
template <typename T>
bool Read(const Type<T>& type, const Field& field, T& out) {
  const size_t before = field.reading.fault_count();
  type.read(field, out);
  return field.reading.fault_count() == before;
}

// Where a document of a schema has each of its keys.
class KeyHomes {
 public:
  explicit KeyHomes(const OrderedJson& schema);

  // Nothing when it has none, or several: "under inference_service", "in an item of cases", "at the
  // top".
  std::optional<std::string> Find(std::string_view key) const;

 private:
  void Add(const OrderedJson& schema, const std::string& path);

  std::map<std::string, std::set<std::string>, std::less<>> holders_;  // their paths, by key
};

// Reads a whole document, and sends keys that stand in the wrong place to the right one.
template <typename T>
bool ReadDocument(const Type<T>& type, const json::Json& root, ReadContext& reading, T& out) {
  std::optional<KeyHomes> homes;  // few documents need it
  reading.SetFindHome([&type, &homes](std::string_view key) {
    if (!homes) homes.emplace(type.Schema());
    return homes->Find(key);
  });
  const bool good = Read(type, {root, "", reading}, out);
  reading.SetFindHome({});
  return good;
}

// A U in the file that stands for a T: what `parse` makes of it and its Field, unless that adds a
// fault.
template <typename T, typename U, typename Parse>
Type<T> Parsed(const Type<U>& written, Parse parse) {
  return {written.types, written.keywords,
          [written, parse = std::move(parse)](const Field& field, T& out) {
            U value{};
            if (!Read(written, field, value)) return;
            const size_t before = field.reading.fault_count();
            T parsed = parse(std::move(value), field);
            if (field.reading.fault_count() == before) out = std::move(parsed);
          }};
}

// Either of two types, distinguished by the JSON type.
template <typename T>
Type<T> Either(Type<T> a, const Type<T>& b) {
  TypeNames types = a.types;
  types.insert(types.end(), b.types.begin(), b.types.end());
  OrderedJson keywords = a.keywords;
  keywords.update(b.keywords);
  return {std::move(types), std::move(keywords),
          [first = std::move(a.types), a = std::move(a.read), b = b.read](
              const Field& field, T& out) { (HasOneOf(first, field.value) ? a : b)(field, out); }};
}

void CheckLength(const Field& field, size_t min);
OrderedJson ListSchema(OrderedJson items, size_t min);

// Every item is added, the faulty ones as T(), so that indices are those of the file.
template <typename Container>
Type<Container> ListInto(const Type<typename Container::value_type>& item, size_t min = 0) {
  return {{"array"},
          ListSchema(item.Schema(), min),
          [read = item.read, min](const Field& field, Container& out) {
            CheckLength(field, min);
            for (size_t i = 0; i < field.value.size(); ++i) {
              typename Container::value_type value{};
              read({field.value[i], json::Child(field.path, i), field.reading}, value);
              out.insert(out.end(), std::move(value));
            }
          },
          [](const Container&) { return OrderedJson::array(); }};
}

template <typename T>
Type<std::vector<T>> List(const Type<T>& item, size_t min = 0) {
  return ListInto<std::vector<T>>(item, min);
}

// An object with any keys.
template <typename T>
Type<std::map<std::string, T, std::less<>>> Map(const Type<T>& member) {
  return {{"object"},
          {{"additionalProperties", member.Schema()}},
          [read = member.read](const Field& field, std::map<std::string, T, std::less<>>& out) {
            for (const auto& [key, value] : field.value.items()) {
              read({value, json::Child(field.path, key), field.reading}, out[key]);
            }
          }};
}

// --- objects ---------------------------------------------------------------------------------

struct KeyOptions {
  bool required = false;
  const char* example = nullptr;  // JSON
};
inline constexpr KeyOptions kRequired = {.required = true};

// One key of an object that is read into an S.
template <typename S>
struct Key {
  // `access` gives the member, which may be optional: a pointer to it, or a function of an S&. The
  // default is what an S holds that was not read.
  template <typename Access, typename T>
  Key(std::string key, std::string_view description, Access access, const Type<T>& type,
      KeyOptions key_options = {})
      : name(std::move(key)), options(key_options) {
    Describe(description, type.Schema());
    using Held = std::decay_t<decltype(std::invoke(access, std::declval<S&>()))>;
    if constexpr (requires(Held held) { held.has_value(); }) {
      read = [access, inner = type.read](const Field& field, S& out) {
        const size_t before = field.reading.fault_count();
        typename Held::value_type value{};
        inner(field, value);
        if (field.reading.fault_count() == before) std::invoke(access, out) = std::move(value);
      };
    } else {
      read = [access, inner = type.read](const Field& field, S& out) {
        inner(field, std::invoke(access, out));
      };
      if (type.write && !options.required) {
        write = [access, inner = type.write](S& from) { return inner(std::invoke(access, from)); };
      }
    }
  }

  // A key without a member: `set` gets each value that has no fault.
  template <typename T, typename Set>
  static Key Calling(std::string key, std::string_view description, const Type<T>& type, Set set,
                     const OrderedJson& default_value = nullptr, KeyOptions options = {}) {
    Key made(std::move(key));
    made.options = options;
    made.Describe(description, type.Schema());
    made.read = [type, set = std::move(set)](const Field& field, S& out) {
      T value{};
      if (Read(type, field, value)) set(out, std::move(value), field);
    };
    made.write = [default_value](S&) { return default_value; };
    return made;
  }

  std::string name;
  OrderedJson schema;
  KeyOptions options;
  std::function<void(const Field&, S&)> read;
  std::function<OrderedJson(S&)> write;

 private:
  explicit Key(std::string key) : name(std::move(key)) {}

  void Describe(std::string_view description, const OrderedJson& of_type) {
    schema = {{"description", description}};
    schema.update(of_type);
  }
};

OrderedJson ObjectSchema(OrderedJson properties, const std::vector<std::string>& required);
void CheckRequired(const std::vector<std::string>& required, const Field& field);
// `hint` is for names that resemble none and are too many to list.
void ReportUnknownKey(const std::string& name, const std::vector<std::string_view>& known,
                      const std::string& hint, const Field& field);

// An object with these keys and no others. `check` is called with what was read, faulty or not.
template <typename S>
Type<S> Object(std::vector<Key<S>> keys, std::function<void(S&, const Field&)> check = {},
               S defaults = S(), std::string unknown_hint = "") {
  struct State {
    std::vector<std::string> required;
    std::map<std::string, std::function<void(const Field&, S&)>, std::less<>> readers;
    std::function<void(S&, const Field&)> check;
    std::string unknown_hint;
  };
  auto state = std::make_shared<State>();  // shared by the copies of the type
  OrderedJson properties = OrderedJson::object();
  for (Key<S>& key : keys) {
    if (key.write) {
      if (OrderedJson value = key.write(defaults); !value.is_null()) {
        key.schema["default"] = std::move(value);
      }
    }
    if (key.options.example != nullptr) {
      key.schema["examples"] = OrderedJson::array({OrderedJson::parse(key.options.example)});
    }
    if (key.options.required) state->required.push_back(key.name);
    state->readers.emplace(key.name, std::move(key.read));
    properties[key.name] = std::move(key.schema);
  }
  state->check = std::move(check);
  state->unknown_hint = std::move(unknown_hint);
  return {{"object"},
          ObjectSchema(std::move(properties), state->required),
          [state = std::shared_ptr<const State>(std::move(state))](const Field& field, S& out) {
            CheckRequired(state->required, field);
            for (const auto& [name, value] : field.value.items()) {
              const Field member{value, json::Child(field.path, name), field.reading};
              const auto reader = state->readers.find(name);
              if (reader != state->readers.end()) {
                reader->second(member, out);
                continue;
              }
              std::vector<std::string_view> known;
              for (const auto& each : state->readers) known.push_back(each.first);
              ReportUnknownKey(name, known, state->unknown_hint, member);
            }
            if (state->check) state->check(out, field);
          }};
}

}  // namespace mindgate::schemas
