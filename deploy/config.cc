#include "deploy/config.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/render.h"
#include "json/yaml.h"

namespace mindgate::deploy {
namespace {

constexpr size_t kMaxSubdomain = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsWordCharacter(char c) { return IsLetter(c) || IsDigit(c); }

// [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?, at most 63 characters.
bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxLabel) return false;
  if (!IsWordCharacter(text.front()) || !IsWordCharacter(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool IsDns1035Label(std::string_view text) { return IsDns1123Label(text) && IsLower(text.front()); }

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) return false;
  const auto parts = Split(text, '.');
  return std::all_of(parts.begin(), parts.end(), IsDns1123Label);
}

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) { return text.empty() || IsName(text); }

bool IsVariableName(std::string_view text) {
  if (text.empty() || IsDigit(text.front()) || text == "." || text.starts_with("..")) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsPinnedImage(std::string_view text) {
  const auto fine = [](char c) {
    return IsWordCharacter(c) || std::string_view("-_./:@+").find(c) != std::string_view::npos;
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), fine)) return false;
  const size_t name = text.rfind('/') + 1;  // 0 when there is none
  const size_t mark = text.find_first_of(":@", name);
  return mark != std::string_view::npos && mark > name && mark + 1 < text.size();
}

bool IsAmount(std::string_view text) {
  constexpr std::string_view kUnits[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                         "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  return number.find_first_of("0123456789") != std::string_view::npos &&
         std::count(number.begin(), number.end(), '.') <= 1 &&
         std::find(std::begin(kUnits), std::end(kUnits), text.substr(end)) != std::end(kUnits);
}

namespace {

using json::Json;
using schemas::Key;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::OrderedJson;
using schemas::Parsed;

// Reads the members that are strings; the others are faults.
Variables Strings(const Field& field) {
  Variables members;
  for (const auto& [key, value] : field.value.items()) {
    const Field member{value, json::Child(field.path, key), field.reading};
    if (const auto text = json::AsString(&value)) {
      members.emplace_back(key, *text);
    } else if (value.is_null()) {
      member.Fault("must be a string, not empty",
                   "write \"\" for an empty value, or remove the key");
    } else if (value.is_structured()) {
      member.Fault("must be a string, not " + WithArticle(json::TypeName(value)));
    } else {
      member.Fault("must be a string: without quotes YAML reads " +
                       WithArticle(json::TypeName(value)) + ", " + value.dump(),
                   "write the value in quotes");
    }
  }
  return members;
}

using CheckMember = void (*)(const std::string& key, const std::string& value, const Field& member);

Type<StringMap> StringMapOf(CheckMember check) {
  return Type<StringMap>({"object"}, {{"additionalProperties", {{"type", "string"}}}},
                         [check](const Field& field, StringMap& out) {
                           for (auto& [key, value] : Strings(field)) {
                             check(key, value,
                                   {field.value[key], json::Child(field.path, key), field.reading});
                             out.insert_or_assign(key, std::move(value));
                           }
                         })
      .OrNull();
}

void CheckKey(const std::string& key, const Field& member) {
  if (IsQualifiedName(key)) return;
  member.Fault(
      Quote(key) + " is no key of a label or annotation",
      "write at most 63 letters, digits, '-', '_' and '.', after an optional domain and '/'");
}

void CheckLabel(const std::string& key, const std::string& value, const Field& member) {
  CheckKey(key, member);
  if (IsMarkLabel(key)) {
    member.Fault("mindgate finds its objects by the label " + Quote(key), "remove it");
  }
  if (IsLabelValue(value)) return;
  member.Fault(
      Quote(value) + " is no value of a label",
      "write at most 63 letters, digits, '-', '_' and '.', a letter or digit at both ends");
}

void CheckAnnotation(const std::string& key, const std::string& /*value*/, const Field& member) {
  CheckKey(key, member);
}

// A text that `is` accepts.
Type<std::string> TextThat(bool (*is)(std::string_view), std::string what, std::string hint) {
  return Parsed<std::string>(NonEmptyText(), [is, what = std::move(what), hint = std::move(hint)](
                                                 std::string text, const Field& field) {
    if (!is(text)) field.Fault(Quote(text) + " is no " + what, hint);
    return text;
  });
}

constexpr const char* kOperations[] = {"add", "remove", "replace", "test"};

// One of RFC 6902. With copy and move, whose sizes add up, a short file makes a large object.
void CheckOperation(const Field& operation) {
  if (!operation.value.is_object()) {
    return operation.Fault(
        "an operation must be an object, not " + WithArticle(json::TypeName(operation.value)),
        "write {op: replace, path: /spec/..., value: ...}");
  }
  const auto op = json::FindString(operation.value, "op");
  const auto path = json::FindString(operation.value, "path");
  const bool known =
      op && std::find(std::begin(kOperations), std::end(kOperations), *op) != std::end(kOperations);
  if (!known) {
    operation.Fault("op must be add, remove, replace or test",
                    "write the value itself instead of copy and move");
  }
  if (!path || !path->starts_with('/')) {
    operation.Fault("path must be a JSON pointer", "begin it with /, as /spec/template");
  }
  if (known && *op != "remove" && !operation.value.contains("value")) {
    operation.Fault("the operation has no value", "add value:");
  }
}

Type<ObjectPatch> PatchTable() {
  return Object<ObjectPatch>(
      {{"kind", "Kind of the objects that are changed, such as StormService.", &ObjectPatch::kind,
        NonEmptyText(), schemas::kRequired},
       {"name", "Name of the object; absent: all of the kind.", &ObjectPatch::name, ObjectName()},
       Key<ObjectPatch>::Calling(
           "patch",
           "A list of JSON patch operations, or an object that is merged: null removes a member, "
           "lists of named items such as containers are merged by name.",
           schemas::Raw({"array", "object"}),
           [](ObjectPatch& patch, const Json* body, const Field& field) {
             patch.body = *body;
             if (!body->is_array()) return;
             if (body->size() > kMaxPatchOperations) {
               return field.Fault(
                   "a patch has at most " + std::to_string(kMaxPatchOperations) + " operations",
                   "divide it");
             }
             for (size_t i = 0; i < body->size(); ++i) {
               CheckOperation({(*body)[i], json::Child(field.path, i), field.reading});
             }
           },
           nullptr, schemas::kRequired)});
}

Type<Amounts> AmountsTable() {
  return Object<Amounts>({{"memory", "Memory.", &Amounts::memory, Quantity()},
                          {"cpu", "Processors.", &Amounts::cpu, Quantity()}});
}

}  // namespace

Type<StringMap> LabelMap() { return StringMapOf(CheckLabel); }
Type<StringMap> AnnotationMap() { return StringMapOf(CheckAnnotation); }

Type<Variables> VariableList() {
  return Type<Variables>(
             {"object"}, {{"additionalProperties", {{"type", "string"}}}},
             [](const Field& field, Variables& out) {
               out = Strings(field);
               const auto place = [&](const std::string& name) {
                 const json::Position at = field.reading.At(json::Child(field.path, name));
                 return std::pair(at.line, at.column);
               };
               std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
                 return place(a.first) < place(b.first);
               });
               for (const auto& [name, value] : out) {
                 if (IsVariableName(name)) continue;
                 field.reading.Fault(json::Child(field.path, name),
                                     Quote(name) + " is no name of a variable",
                                     "write letters, digits, '-', '_' and '.', no digit in front");
               }
             })
      .OrNull();
}

Type<std::string> Image() {
  return TextThat(IsPinnedImage, "image with a tag or digest", "write name:tag or name@sha256:...");
}

Type<std::string> ResourceName() {
  return TextThat(IsQualifiedName, "name of a resource",
                  "write huawei.com/Ascend910 or huawei.com/npu");
}

Type<std::string> Quantity() {
  return TextThat(IsAmount, "quantity", "write 500m, 2, 64Mi or 4Gi");
}

Type<std::string> ObjectName() {
  return TextThat(IsDnsSubdomain, "name of an object",
                  "write lower-case letters, digits, '-' and '.'");
}

Type<std::string> AbsolutePath() {
  return TextThat([](std::string_view text) { return text.starts_with('/'); }, "absolute path",
                  "begin it with /");
}

Type<std::string> LabelText() {
  return TextThat(IsLabelValue, "value of a label, and becomes one",
                  "write at most 63 letters, digits, '-', '_' and '.'");
}

Type<ResourceSettings> ResourcesTable() {
  return Object<ResourceSettings>(
      {{"requests", "What is set aside for the container.", &ResourceSettings::requests,
        AmountsTable()},
       {"limits", "What the container may use.", &ResourceSettings::limits, AmountsTable()}});
}

void CheckReplicas(int64_t min, std::optional<int64_t> max, const Field& field) {
  if (!max) return;
  const std::string path = json::Child(field.path, "max_replicas");
  if (*max < min) {
    field.reading.Fault(
        path,
        "max_replicas is " + std::to_string(*max) + " and min_replicas is " + std::to_string(min),
        "write at least " + std::to_string(min) + ", or leave max_replicas out");
  } else if (*max > min) {
    field.reading.Warn(path,
                       "max_replicas is above min_replicas, and MindCluster counts the gang from "
                       "min_replicas",
                       "write the same number, or leave max_replicas out");
  }
}

std::vector<Key<Application>> CommonKeys() {
  std::vector<std::string> frameworks;
  for (const Framework each : kFrameworks) frameworks.emplace_back(FrameworkName(each));
  return {
      {"app_name", "Name of the application; its objects are named after it.", &Application::name,
       TextThat(IsDns1035Label, "name of an application",
                "write at most 63 lower-case letters, digits and '-', a letter in front"),
       schemas::kRequired},
      {"app_namespace", "Namespace of the application.", &Application::ns,
       TextThat(IsDns1123Label, "namespace", "write lower-case letters, digits and '-'")},
      Key<Application>::Calling(
          "framework", "What serves the model. It decides which other keys there are.",
          schemas::Word(frameworks), [](Application&, const std::string&, const Field&) {}),
      Key<Application>::Calling(
          "patches", "Changes of the objects, for what no other key says; in this order.",
          schemas::List(PatchTable()),
          [](Application& application, std::vector<ObjectPatch> patches, const Field& field) {
            if (patches.size() > kMaxPatches) {
              return field.Fault(
                  "a configuration has at most " + std::to_string(kMaxPatches) + " patches",
                  "put several changes of one object into one patch");
            }
            application.patches = std::move(patches);
          })};
}

namespace {

const Type<Application>& TableOf(Framework framework) {
  switch (framework) {
    case Framework::kAibrix:
      return AibrixTable();
    case Framework::kMindie:
      return MindieTable();
    default:
      return OmeTable();
  }
}

std::vector<std::string_view> FrameworkNames() {
  std::vector<std::string_view> names;
  for (const Framework each : kFrameworks) names.push_back(FrameworkName(each));
  return names;
}

// The framework of a document. Reports a block of another one.
std::optional<Framework> FrameworkOf(const Json& document, std::string_view fallback,
                                     schemas::ReadContext& reading) {
  std::optional<Framework> written;  // by its block
  for (const Framework each : kFrameworks) {
    if (!written && document.contains(BlockOf(each))) written = each;
  }
  const auto word = json::FindString(document, "framework");
  std::string source = "framework: " + std::string(word.value_or(""));
  std::optional<Framework> chosen = word ? FrameworkNamed(*word) : std::nullopt;
  if (!word && !fallback.empty()) {
    source = "SERVING_FRAMEWORK=" + std::string(fallback);
    chosen = FrameworkNamed(fallback);
    if (!chosen) {
      reading.Fault("", "the variable SERVING_FRAMEWORK is " + Quote(fallback),
                    "set it to " + OneOf(FrameworkNames()) + ", or write framework: in the file");
      return std::nullopt;
    }
  }
  if (!chosen) return written.value_or(Framework::kOme);
  if (written && written != chosen && !document.contains(BlockOf(*chosen))) {
    const std::string other(FrameworkName(*written));
    reading.Fault(
        "/" + std::string(BlockOf(*written)),
        Quote(BlockOf(*written)) + " is for framework " + other + ", but the framework is " +
            std::string(FrameworkName(*chosen)) + " (" + source + ")",
        word ? "write framework: " + other
             : "write framework: " + other + " in the file, which wins over the variable");
    return std::nullopt;
  }
  return chosen;
}

void CheckDerivedNames(const Application& application, schemas::ReadContext& reading) {
  if (!IsDns1035Label(application.name)) return;  // reported already
  const DerivedName* longest = nullptr;
  const auto names = DerivedNames(application);
  for (const DerivedName& each : names) {
    if (longest == nullptr || each.name.size() > longest->name.size()) longest = &each;
  }
  if (longest == nullptr || longest->name.size() <= kMaxLabel) return;
  const size_t surplus = longest->name.size() - kMaxLabel;
  const std::string most = std::to_string(kMaxLabel);
  const std::string fix =
      application.name.size() > surplus
          ? "write at most " + std::to_string(application.name.size() - surplus) + " characters"
          : "write a shorter name";
  reading.Fault("/app_name",
                "the name of the " + longest->what + " " + Quote(longest->name) + " has " +
                    std::to_string(longest->name.size()) +
                    " characters; Kubernetes takes at most " + most,
                fix);
}

// What is only found out when the objects are there; several objects may have one fault.
void CheckRendered(const Application& application, schemas::ReadContext& reading) {
  std::set<std::pair<std::string, std::string>> reported;
  for (const RenderedObject& rendered : Render(application)) {
    for (const RenderFault& fault : rendered.faults) {
      if (!reported.emplace(fault.written, fault.message).second) continue;
      reading.Fault(fault.written, fault.message, fault.hint);
    }
  }
}

}  // namespace

tl::expected<Configuration, json::Issues> ReadConfiguration(Json document,
                                                            json::Positions positions,
                                                            std::string_view fallback) {
  Configuration configuration;
  configuration.document = std::move(document);
  configuration.positions = std::move(positions);
  const Json& root = configuration.document;
  schemas::ReadContext reading(root, configuration.positions);
  if (!root.is_object()) {
    reading.Fault("", "a configuration is an object, not " + WithArticle(json::TypeName(root)),
                  "`mindgate deploy --init ome` writes one to start from");
    return tl::unexpected(reading.Faults());
  }
  const auto framework = FrameworkOf(root, fallback, reading);
  if (!framework) return tl::unexpected(reading.Faults());
  Application& application = configuration.application;
  schemas::ReadDocument(TableOf(*framework), root, reading, application);
  if (reading.fault_count() == 0) CheckDerivedNames(application, reading);
  if (reading.fault_count() == 0) CheckRendered(application, reading);
  if (reading.fault_count() > 0) return tl::unexpected(reading.Faults());
  configuration.warnings = reading.Warnings();
  return configuration;
}

tl::expected<Configuration, json::Issues> ReadConfiguration(std::string_view text,
                                                            std::string_view fallback) {
  auto documents = json::DecodeCoreYaml(text);
  if (!documents) return tl::unexpected(json::Issues(std::move(documents.error())));
  if (documents->empty()) {
    return tl::unexpected(json::Issues(
        {{}, "", "the file is empty", "`mindgate deploy --init ome` writes one to start from"}));
  }
  if (documents->size() > 1) {
    return tl::unexpected(json::Issues({{(*documents)[1].line, 1},
                                        "",
                                        "a configuration holds one application",
                                        "write the second one into a file of its own"}));
  }
  json::YamlDocument& document = documents->front();
  return ReadConfiguration(std::move(document.value), std::move(document.positions), fallback);
}

schemas::OrderedJson ConfigurationSchema(Framework framework) {
  return schemas::DocumentSchema(
      "mindgate deploy configuration (" + std::string(FrameworkName(framework)) + ")",
      "One application with separate prefill and decode instances.", TableOf(framework).Schema());
}

}  // namespace mindgate::deploy
