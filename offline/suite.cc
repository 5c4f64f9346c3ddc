#include "offline/suite.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/config_files.h"
#include "base/text.h"
#include "json/pointer.h"
#include "schemas/config.h"
#include "schemas/config_table.h"

namespace mindgate::offline {
namespace {

namespace fs = std::filesystem;
using json::Child;
using json::Json;

bool IsManifest(const Json& value) {
  return json::FindString(value, "apiVersion") && json::FindString(value, "kind");
}

// Reads the files and objects of a suite. Further faults go to `reading`.
class SuiteReader {
 public:
  SuiteReader(Source& source, Document& document, schemas::ReadContext& reading,
              const std::vector<std::string>& policies)
      : source_(source), document_(document), reading_(reading), policies_(policies) {
    suite_.file = source.input.name;
    folder_ = fs::path(suite_.file).parent_path();
  }

  Suite Read(WrittenSuite written) {
    suite_.name = written.name.empty() ? suite_.file : std::move(written.name);
    suite_.now = written.now;
    ReadConfig(std::move(written.config));
    std::map<std::string, size_t> names;
    for (size_t i = 0; i < written.cases.size(); ++i) {
      const std::string path = Child("/cases", i);
      suite_.cases.push_back(ReadCase(std::move(written.cases[i]), path));
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
    reading_.Fault(path, std::move(message), std::move(hint));
  }

  void ReadConfig(WrittenConfig written) {
    std::string folder = folder_.string();
    if (const auto* file = std::get_if<std::string>(&written)) {
      folder = (folder_ / *file).parent_path().string();
    }
    suite_.config = ConfigOf(std::move(written));
    const auto texts =
        admission::ReadPolicyTexts(suite_.config.policy_sources.files, folder, policies_);
    if (!texts) {
      return Fault("/config", texts.error().message(),
                   "files of policies are relative to the folder of the configuration, those of "
                   "--policies to the working directory");
    }
    if (const auto set = admission::SetPolicies(*texts, suite_.config); !set) {
      Fault("/config", set.error().message(), "");
    }
  }

  schemas::Config ConfigOf(WrittenConfig written) {
    if (auto* config = std::get_if<schemas::Config>(&written)) return std::move(*config);
    const std::string path = (folder_ / std::get<std::string>(written)).string();
    const auto text = ReadFile(path);
    if (!text) {
      Fault("/config", path + ": " + text.error().message(), "");
      return {};
    }
    auto loaded = schemas::LoadConfig(*text, admission::KnownNames());
    if (loaded) return *std::move(loaded);
    const json::Issue& first = loaded.error().items().front();
    Fault("/config", path + ":" + std::to_string(first.at.line) + ": " + first.message,
          "`mindgate config validate " + path + "` reports every error");
    return {};
  }

  TestCase ReadCase(WrittenCase written, const std::string& path) {
    TestCase test = std::move(written.test);
    test.line = reading_.At(path).line;
    if (auto input = OneObject(*written.input, Child(path, "input"), written.document, &test)) {
      test.input = *std::move(input);
    }
    if (written.old != nullptr) {
      const auto object = OneObject(*written.old, Child(path, "old"), std::nullopt, nullptr);
      if (object) test.input.old_object = object->object;
    }
    if (test.operation) test.input.operation = *test.operation;  // for a recorded review
    if (test.operation == schemas::Operation::kCreate && test.input.old_object != nullptr) {
      Fault(Child(path, "operation"), "CREATE cannot have an old object",
            "write UPDATE, or remove old");
    }
    for (size_t i = 0; i < written.others.size(); ++i) {
      const auto objects = ObjectsAt(*written.others[i], Child(Child(path, "others"), i));
      test.others.insert(test.others.end(), objects.begin(), objects.end());
    }
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
    const size_t faults = reading_.fault_count();
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
    if (reading_.fault_count() == faults) {
      Fault(path, "contains " + std::to_string(meant.size()) + " objects instead of one",
            document || meant.empty() ? "" : "select one with document: 1");
    }
    return std::nullopt;
  }

  Source& source_;
  Document& document_;
  schemas::ReadContext& reading_;
  const std::vector<std::string>& policies_;
  Suite suite_;
  fs::path folder_;
};

SuiteFile ReadSuiteFile(InputText input, const std::vector<std::string>& policies) {
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
    document.At("");  // positions of a JSON text are computed on first use
    schemas::ReadContext reading(document.value, document.positions);
    WrittenSuite written;
    if (schemas::ReadDocument(SuiteTable(), document.value, reading, written)) {
      file.suites.push_back(
          SuiteReader(*file.source, document, reading, policies).Read(std::move(written)));
    }
    file.issues.Append(reading.Faults());
    file.warnings.Append(reading.Warnings());
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

std::vector<SuiteFile> ReadSuites(const std::vector<std::string>& paths, std::istream& in,
                                  const std::vector<std::string>& policies) {
  std::vector<SuiteFile> files;
  for (InputText& input : ReadInputs(paths, in)) {
    const bool named = !input.found;
    SuiteFile file = ReadSuiteFile(std::move(input), policies);
    if (named || !IsOther(file)) files.push_back(std::move(file));
  }
  return files;
}

namespace {

using schemas::Field;
using schemas::Key;
using schemas::List;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Parsed;
using schemas::Raw;
using schemas::Text;
using schemas::Type;

Type<const Json*> ObjectOrFile() { return Raw({"object", "string"}); }

Type<WrittenConfig> ConfigOrFile() {
  const auto keep = [](auto value, const Field&) -> WrittenConfig { return value; };
  return schemas::Either(
      Parsed<WrittenConfig>(Text(), keep),
      Parsed<WrittenConfig>(schemas::ConfigTable(admission::KnownNames()), keep));
}

Type<Time> TimeOfSuite() {
  return Parsed<Time>(Text(), [](const std::string& text, const Field& field) {
    const auto time = ParseTime(text);
    if (!time) field.Fault(Quote(text) + " is not a time", "write 2026-12-31T12:00:00Z");
    return time.value_or(Time());
  });
}

// A key that is compared with the same key of what was found.
Key<Json> ComparedKey(const std::string& name, std::string_view description,
                      const Type<std::string>& type, schemas::KeyOptions options = {}) {
  return Key<Json>::Calling(
      name, description, type,
      [name](Json& out, std::string text, const Field&) { out[name] = std::move(text); }, nullptr,
      options);
}

Type<Json> WholeValue(const Type<std::vector<const Json*>>& type) {
  return Parsed<Json>(type, [](const auto&, const Field& field) { return field.value; });
}

Type<Expectation> ExpectTable() {
  return Object<Expectation>(
      {{"outcome", "The outcome.", &Expectation::outcome,
        schemas::Word({"admitted", "denied", "ignored"})},
       {"patch", "The whole JSON Patch, operation by operation.", &Expectation::patch,
        WholeValue(List(Raw({"object"})))},
       {"changes", "All changes, in any order.", &Expectation::changes,
        List(Object<Json>({ComparedKey("mutator", "The mutator.", Text(), schemas::kRequired),
                           ComparedKey("path", "The JSON pointer.", Text())}))},
       {"findings", "All findings, in any order.", &Expectation::findings,
        List(Object<Json>(
            {ComparedKey("rule", "The rule, by id or name.",
                         schemas::RuleName(admission::KnownNames()), schemas::kRequired),
             ComparedKey("field", "The field path.", Text()),
             ComparedKey("mode", "The effective mode.",
                         schemas::Word({"enforce", "warn", "audit"}))}))},
       {"warnings", "The warnings shown to users of kubectl, in order.", &Expectation::warnings,
        List(Text())}},
      [](Expectation&, const Field& field) {
        if (!field.value.empty()) return;
        field.Fault("expect is empty, so the case cannot fail",
                    "add outcome, changes, findings, patch or warnings");
      });
}

Type<WrittenCase> CaseTable() {
  return Object<WrittenCase>(
      {{"name", "The name of the case.", [](WrittenCase& c) -> auto& { return c.test.name; },
        NonEmptyText(), schemas::kRequired},
       {"input", "The object, or the name of a file with it.", &WrittenCase::input, ObjectOrFile(),
        schemas::kRequired},
       {"document",
        "The number of the document in the input file, if it has several. The others can be "
        "referenced.",
        &WrittenCase::document, schemas::Whole(1, INT64_MAX)},
       {"operation", "The operation; by default UPDATE if old is given, else CREATE.",
        [](WrittenCase& c) -> auto& { return c.test.operation; },
        schemas::Choice<schemas::Operation>(
            {{"CREATE", schemas::Operation::kCreate}, {"UPDATE", schemas::Operation::kUpdate}})},
       {"old", "The object before the update, or the name of a file with it.", &WrittenCase::old,
        ObjectOrFile()},
       {"namespace", "The namespace of an object that does not set one.",
        [](WrittenCase& c) -> auto& { return c.test.ns; }, Text()},
       {"namespaceLabels", "Labels of the namespace.",
        [](WrittenCase& c) -> auto& { return c.test.namespace_labels; }, schemas::Map(Text())},
       {"others", "Other objects that can be referenced, or names of files with them.",
        &WrittenCase::others, List(ObjectOrFile())},
       {"expect", "The expected decision. Fields that are left out are not compared.",
        [](WrittenCase& c) -> auto& { return c.test.expect; }, ExpectTable(), schemas::kRequired}});
}

Type<WrittenSuite> MakeSuiteTable() {
  return Object<WrittenSuite>(
      {{"name", "The name of the suite.", &WrittenSuite::name, Text()},
       {"config", "The configuration: the content of a mindgate.yaml, or a file name.",
        &WrittenSuite::config, ConfigOrFile()},
       {"now", "The time for which exceptions are evaluated (2026-12-31T12:00:00Z).",
        &WrittenSuite::now, TimeOfSuite()},
       {"cases", "The test cases.", &WrittenSuite::cases, List(CaseTable(), 1),
        schemas::kRequired}});
}

}  // namespace

const Type<WrittenSuite>& SuiteTable() {
  static const Type<WrittenSuite> table = MakeSuiteTable();
  return table;
}

schemas::OrderedJson SuiteSchema() {
  return schemas::DocumentSchema("mindgate test suite",
                                 "Objects, and the decisions expected from mindgate.",
                                 SuiteTable().Schema());
}

}  // namespace mindgate::offline
