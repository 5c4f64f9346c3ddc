#include "offline/suite_table.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "admission/policy_files.h"
#include "base/text.h"
#include "schemas/config_table.h"

namespace mindgate::offline {
namespace {

using json::Json;
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
