#include "cli/suite.h"

#include <filesystem>
#include <map>

#include "admission/known_names.h"
#include "base/text.h"
#include "json/pointer.h"
#include "policies/engine.h"
#include "schemas/config_load.h"
#include "schemas/json_schema.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;
using json::Child;
using json::Find;
using json::Json;

constexpr std::string_view kSchema = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "mindgate test suite",
  "description": "Objects, and the decisions expected from mindgate.",
  "type": "object",
  "additionalProperties": false,
  "required": ["cases"],
  "properties": {
    "name": {"description": "The name of the suite.", "type": "string"},
    "config": {
      "description": "The configuration: the content of a mindgate.yaml, or a file name.",
      "type": ["object", "string"]
    },
    "now": {
      "description": "The time for which exceptions are evaluated (2026-12-31T12:00:00Z).",
      "type": "string"
    },
    "cases": {
      "description": "The test cases.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "input", "expect"],
        "properties": {
          "name": {"description": "The name of the case.", "type": "string", "minLength": 1},
          "input": {
            "description": "The object, or the name of a file with it.",
            "type": ["object", "string"]
          },
          "document": {
            "description": "The number of the document in the input file, if it has several. The others can be referenced.",
            "type": "integer",
            "minimum": 1
          },
          "operation": {"description": "The operation; by default UPDATE if old is given, else CREATE.", "enum": ["CREATE", "UPDATE"]},
          "old": {
            "description": "The object before the update, or the name of a file with it.",
            "type": ["object", "string"]
          },
          "namespace": {"description": "The namespace of an object that does not set one.", "type": "string"},
          "namespaceLabels": {
            "description": "Labels of the namespace.",
            "type": "object",
            "additionalProperties": {"type": "string"}
          },
          "others": {
            "description": "Other objects that can be referenced, or names of files with them.",
            "type": "array",
            "items": {"type": ["object", "string"]}
          },
          "expect": {
            "description": "The expected decision. Fields that are left out are not compared.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "outcome": {"description": "The outcome.", "enum": ["admitted", "denied", "ignored"]},
              "patch": {
                "description": "The whole JSON Patch, operation by operation.",
                "type": "array",
                "items": {"type": "object"}
              },
              "changes": {
                "description": "All changes, in any order.",
                "type": "array",
                "items": {
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["mutator"],
                  "properties": {
                    "mutator": {"description": "The mutator.", "type": "string"},
                    "path": {"description": "The JSON pointer.", "type": "string"}
                  }
                }
              },
              "findings": {
                "description": "All findings, in any order.",
                "type": "array",
                "items": {
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["rule"],
                  "properties": {
                    "rule": {"description": "The rule, by id or name.", "type": "string"},
                    "field": {"description": "The field path.", "type": "string"},
                    "mode": {"description": "The effective mode.", "enum": ["enforce", "warn", "audit"]}
                  }
                }
              },
              "warnings": {
                "description": "The warnings shown to users of kubectl, in order.",
                "type": "array",
                "items": {"type": "string"}
              }
            }
          }
        }
      }
    }
  }
})json";

const schemas::JsonSchema& CompiledSchema() {
  static const schemas::JsonSchema schema = schemas::JsonSchema::Compile(SuiteSchema()).value();
  return schema;
}

std::string TextOf(const Json& object, std::string_view key) {
  return std::string(json::FindString(object, key).value_or(""));
}

bool IsManifest(const Json& value) {
  return json::FindString(value, "apiVersion") && json::FindString(value, "kind");
}

// Turns a document that the schema accepted into a Suite. Further faults go to `issues`.
class SuiteReader {
 public:
  SuiteReader(Source& source, Document& document, json::Issues& issues)
      : source_(source), document_(document), issues_(issues) {
    suite_.file = source.input.name;
    folder_ = fs::path(suite_.file).parent_path();
  }

  Suite Read() {
    const Json& root = document_.value;
    suite_.name = TextOf(root, "name");
    if (suite_.name.empty()) suite_.name = suite_.file;
    ReadConfig();
    if (const auto now = json::FindString(root, "now")) {
      suite_.now = ParseTime(*now);
      if (!suite_.now) Fault("/now", Quote(*now) + " is not a time", "write 2026-12-31T12:00:00Z");
    }
    const Json& cases = *Find(root, "cases");
    std::map<std::string, size_t> names;
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string path = Child("/cases", i);
      suite_.cases.push_back(ReadCase(cases[i], path));
      const auto [first, fresh] = names.emplace(suite_.cases.back().name, i + 1);
      if (!fresh) {
        Fault(Child(path, "name"), "case " + std::to_string(first->second) + " has the same name",
              "rename one of them");
      }
    }
    return std::move(suite_);
  }

 private:
  void Fault(const std::string& path, std::string message, std::string hint) {
    issues_.Add({document_.At(path), json::FieldPath(document_.value, path), std::move(message),
                 std::move(hint)});
  }

  void ReadConfig() {
    const Json* config = Find(document_.value, "config");
    if (config == nullptr) return;
    if (const auto name = json::AsString(config)) {
      const std::string path = (folder_ / *name).string();
      const auto text = ReadFile(path);
      if (!text) {
        Fault("/config", path + ": " + text.error().message(), "");
        return;
      }
      auto loaded = schemas::LoadConfig(*text, admission::KnownNames());
      if (loaded) {
        suite_.config = *std::move(loaded);
      } else {
        const json::Issue& first = loaded.error().items().front();
        Fault("/config", path + ":" + std::to_string(first.at.line) + ": " + first.message,
              "`mindgate config validate " + path + "` reports every error");
      }
      return;
    }
    document_.At("");  // positions of a JSON text are computed on first use
    auto loaded =
        schemas::ReadConfig(*config, admission::KnownNames(), document_.positions, "/config");
    if (loaded) {
      suite_.config = *std::move(loaded);
      return;
    }
    for (const json::Issue& issue : loaded.error().items()) issues_.Add(issue);
  }

  TestCase ReadCase(const Json& value, const std::string& path) {
    TestCase test;
    test.name = TextOf(value, "name");
    test.line = document_.At(path).line;
    const auto document = json::AsInt(Find(value, "document"));
    if (auto input = OneObject(*Find(value, "input"), Child(path, "input"), document, &test)) {
      test.input = *std::move(input);
    }
    if (const Json* old = Find(value, "old")) {
      const auto object = OneObject(*old, Child(path, "old"), std::nullopt, nullptr);
      if (object) test.input.old_object = object->object;
    }
    test.operation = schemas::OperationNamed(TextOf(value, "operation"));
    if (test.operation) test.input.operation = *test.operation;  // for a recorded review
    if (test.operation == schemas::Operation::kCreate && test.input.old_object != nullptr) {
      Fault(Child(path, "operation"), "CREATE cannot have an old object",
            "write UPDATE, or remove old");
    }
    test.ns = TextOf(value, "namespace");
    if (const Json* labels = Find(value, "namespaceLabels")) {
      for (const auto& [key, label] : labels->items()) {
        test.namespace_labels[key] = label.get<std::string>();
      }
    }
    if (const Json* others = Find(value, "others")) {
      for (size_t i = 0; i < others->size(); ++i) {
        const auto objects = ObjectsAt((*others)[i], Child(Child(path, "others"), i));
        test.others.insert(test.others.end(), objects.begin(), objects.end());
      }
    }
    ReadExpectation(*Find(value, "expect"), Child(path, "expect"), test.expect);
    return test;
  }

  // The objects of a field that is an object or a file name. Faults are reported.
  std::vector<InputObject> ObjectsAt(const Json& value, const std::string& path) {
    std::vector<InputObject> objects;
    const auto name = json::AsString(&value);
    if (name) {
      const std::string file = (folder_ / *name).string();
      auto text = ReadFile(file);
      if (!text) {
        Fault(path, file + ": " + text.error().message(),
              "file names are relative to the folder of the suite");
        return {};
      }
      suite_.files.push_back(Decode({file, *std::move(text), ""}));
      objects = ObjectsIn(*suite_.files.back());
    } else {
      objects = ObjectsIn(source_, document_, path);
    }
    std::erase_if(objects, [&](const InputObject& object) {
      if (!object.fault) return false;
      const std::string where =
          name ? object.source->input.name + ":" + std::to_string(object.fault->at.line) + ": "
               : "";
      Fault(path, where + object.fault->message, object.fault->hint);
      return true;
    });
    return objects;
  }

  // The selected object; the others in its file become known to `test`.
  std::optional<InputObject> OneObject(const Json& value, const std::string& path,
                                       std::optional<int64_t> document, TestCase* test) {
    const size_t faults = issues_.items().size();
    std::vector<InputObject> meant;
    std::vector<InputObject> rest;
    for (InputObject& object : ObjectsAt(value, path)) {
      const bool wanted = !document || object.document->number == *document;
      (wanted ? meant : rest).push_back(std::move(object));
    }
    if (meant.size() == 1) {
      if (test != nullptr) test->others = std::move(rest);
      return meant.front();
    }
    if (issues_.items().size() == faults) {
      Fault(path, "contains " + std::to_string(meant.size()) + " objects instead of one",
            document || meant.empty() ? "" : "select one with document: 1");
    }
    return std::nullopt;
  }

  void ReadExpectation(const Json& value, const std::string& path, Expectation& expect) {
    if (value.empty()) {
      Fault(path, "expect is empty, so the case cannot fail",
            "add outcome, changes, findings, patch or warnings");
    }
    if (const auto outcome = json::FindString(value, "outcome")) expect.outcome = *outcome;
    if (const Json* patch = Find(value, "patch")) expect.patch = *patch;
    if (const Json* changes = Find(value, "changes")) {
      expect.changes = changes->get<std::vector<Json>>();
    }
    if (const Json* warnings = Find(value, "warnings")) {
      expect.warnings = warnings->get<std::vector<std::string>>();
    }
    const Json* findings = Find(value, "findings");
    if (findings == nullptr) return;
    expect.findings.emplace();
    for (size_t i = 0; i < findings->size(); ++i) {
      Json finding = (*findings)[i];
      const std::string written = TextOf(finding, "rule");
      const policies::Rule* rule = policies::FindRule(written);
      if (rule == nullptr) {
        UnknownRule(written, Child(Child(Child(path, "findings"), i), "rule"));
      } else {
        finding["rule"] = rule->id;
      }
      expect.findings->push_back(std::move(finding));
    }
  }

  void UnknownRule(const std::string& written, const std::string& path) {
    std::vector<std::string_view> known;
    for (const policies::Rule* rule : policies::Catalogue()) {
      known.push_back(rule->id);
      known.push_back(rule->name);
    }
    const auto near = NearestOf(written, known);
    Fault(path, "unknown rule " + Quote(written),
          near ? "did you mean " + Quote(*near) + "?" : "`mindgate explain` lists all rules");
  }

  Source& source_;
  Document& document_;
  json::Issues& issues_;
  Suite suite_;
  fs::path folder_;
};

SuiteFile ReadSuiteFile(InputText input) {
  SuiteFile file;
  file.source = Decode(std::move(input));
  if (!file.source->input.fault.empty()) {
    file.issues.Add({{}, "", file.source->input.fault, ""});
  }
  for (Document& document : file.source->documents) {
    if (document.fault) {
      file.issues.Add(*document.fault);
      continue;
    }
    const auto faults = CompiledSchema().Validate(document.value);
    document.At("");
    for (const schemas::SchemaFault& fault : faults) {
      file.issues.Add(ToIssue(fault, document.value, document.positions));
    }
    if (!faults.empty()) continue;
    file.suites.push_back(SuiteReader(*file.source, document, file.issues).Read());
  }
  if (file.source->documents.empty() && file.issues.empty()) {
    file.issues.Add({{}, "", "contains no suite", "add cases:"});
  }
  return file;
}

// A folder may contain suites and the manifests they refer to.
bool IsOther(const SuiteFile& file) {
  const fs::path name = fs::path(file.source->input.name).filename();
  if (name == "mindgate.yaml") return true;
  const auto& documents = file.source->documents;
  return !documents.empty() && IsManifest(documents.front().value);
}

}  // namespace

const Json& SuiteSchema() {
  static const Json schema = Json::parse(kSchema);
  return schema;
}

std::vector<SuiteFile> ReadSuites(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<SuiteFile> files;
  for (InputText& input : ReadInputs(paths, in)) {
    const bool named = !input.found;
    SuiteFile file = ReadSuiteFile(std::move(input));
    if (named || !IsOther(file)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace mindgate::cli
