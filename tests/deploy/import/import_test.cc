// From the objects of mindcluster-deploy's deploy tool back to a configuration. tests/oracle/deploy
// has what that tool makes of 57 files.
#include "deploy/import/import.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/import/edits.h"
#include "deploy/render.h"
#include "json/decode.h"
#include "json/value.h"
#include "json/yaml.h"
#include "support/deploy_configs.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;
using ::testing::IsEmpty;

constexpr const char* kOracle = "tests/oracle/deploy/";

std::vector<std::string> OracleNames() {
  std::set<std::string> names;
  for (const auto& each :
       std::filesystem::directory_iterator(SourcePath(std::string(kOracle) + "want"))) {
    names.insert(each.path().stem());
  }
  return {names.begin(), names.end()};
}

FoundApplication FoundIn(const std::vector<Json>& objects) {
  for (const Json& each : objects) {
    if (KindOf(each) != "InferenceService" && KindOf(each) != "StormService") continue;
    auto found = FindAmong(objects, "", NameOf(each), {});
    if (found) return *std::move(found);
    ADD_FAILURE() << found.error().reasons.front().what;
  }
  return {};
}

// What the command's renderer makes of a text, by the titles of the objects.
Json RenderedFrom(std::string_view text) {
  Json all = Json::object();
  const auto read = ReadConfiguration(text);
  if (!read) return all;
  for (const RenderedObject& each : Render(read->application)) all[each.Title()] = each.object;
  return all;
}

// What mindgate adds to nearly every application, in a word each, by the end of the path.
constexpr std::pair<const char*, const char*> kUsual[] = {
    {"[app.kubernetes.io/instance]", "whose-it-is"},
    {"[app.kubernetes.io/managed-by]", "whose-it-is"},
    {"[mindgate.io/framework]", "whose-it-is"},
    {"[mindgate.io/application]", "whose-it-is"},
    {"[fault-retry-times]", "fault-retry-times"},
    {".restartPolicy", "restart-policy"},
    {"[ASCEND_VISIBLE_DEVICES]", "visible-devices"},
    {".readinessProbe", "probe-of-the-port"},
    {"[router].ports", "port-of-the-router"}};

std::string LinesOf(const Imported& imported) {
  std::string out;
  std::set<std::string> usual;
  for (const json::Issue& each : imported.faults.items()) {
    out += "  fault line " + std::to_string(each.at.line) + ": " + each.message + "\n";
  }
  for (const json::Issue& each : imported.findings.items()) {
    out += "  found line " + std::to_string(each.at.line) + ": " + each.message + "\n";
  }
  for (const ObjectChange& each : imported.objects) {
    const bool creates = each.what == ObjectChange::What::kCreates;
    if (creates || each.what == ObjectChange::What::kLeaves) {
      out += (creates ? "  creates " : "  leaves ") + each.title + "\n";
    }
    for (const FieldChange& field : each.fields) {
      const auto word = std::find_if(std::begin(kUsual), std::end(kUsual), [&](const auto& end) {
        return field.before.is_null() && field.path.ends_with(end.first);
      });
      if (word != std::end(kUsual)) {
        usual.insert(word->second);
        continue;
      }
      out += "  " + each.title + " " + field.path + ": " + field.before.dump() + " -> " +
             field.after.dump() + "\n";
    }
  }
  out += "  adds";
  for (const std::string& word : usual) out += " " + word;
  return out + "\n";
}

TEST(Import, WhatTheOtherToolMadeOfItsFiles) {
  std::string table;
  for (const std::string& name : OracleNames()) {
    const std::vector<Json> objects = OldObjects(name);
    if (objects.empty()) continue;
    const Imported imported = Import(FoundIn(objects), {}, Time());
    const std::string text = ReadSource(kOracle + std::string("cfg/") + name + ".yaml");
    const Json direct = RenderedFrom(text);
    const char* as_file = direct.empty()                          ? "the file is refused"
                          : direct == RenderedFrom(imported.text) ? "as the file"
                                                                  : "other than the file";
    table += name + ": " + as_file + ", patches " + std::to_string(imported.patches) + "\n" +
             LinesOf(imported);
    if (imported.patches > 0) table += imported.text.substr(imported.text.find("patches:"));
  }
  ExpectGolden("tests/golden/deploy/import.txt", table);
}

// What of the text is not in the text of the objects without the edit.
std::string NewLines(const std::string& without, const std::string& with) {
  std::multiset<std::string_view> known;
  for (const std::string_view line : Split(without, '\n')) known.insert(line);
  std::string out;
  for (const std::string_view line : Split(with, '\n')) {
    const auto same = known.find(line);
    if (same != known.end()) {
      known.erase(same);
    } else {
      out += "  | " + std::string(line) + "\n";
    }
  }
  return out;
}

std::string TableOfEdits(const std::string& name, const std::vector<Edit>& edits) {
  const Imported plain = Import(FoundIn(OldObjects(name)), {}, Time());
  std::string table;
  for (const Edit& edit : edits) {
    std::vector<Json> objects = OldObjects(name);
    ApplyEdit(objects, edit);
    const Imported imported = Import(FoundIn(objects), {}, Time());
    table +=
        name + ", " + edit.name + "\n" + NewLines(plain.text, imported.text) + LinesOf(imported);
  }
  return table;
}

TEST(Import, WhatUsersChangeInTheTemplates) {
  ExpectGolden(
      "tests/golden/deploy/import-edits.txt",
      TableOfEdits("aibrix-00-sample", AibrixEdits()) + TableOfEdits("ome-00-sample", OmeEdits()));
}

// What of a field that runs may be lost on purpose (import/read.h).
bool IsOnPurpose(const std::string& path) {
  for (const char* end : {"[huawei.com/schedule_minAvailable]", "[app.kubernetes.io/managed-by]",
                          "env[MF_STORE_PORT].value", "Probe.httpGet"}) {
    if (path.ends_with(end)) return true;
  }
  return path == "spec.replicas";
}

void ExpectKept(const std::string& name, const std::vector<Edit>& edits, uint32_t seed) {
  std::mt19937 dice(seed);
  for (int round = 0; round < 20; ++round) {
    std::vector<Json> objects = OldObjects(name);
    std::string words = name;
    for (const Edit& edit : edits) {
      if (dice() % 4 != 0) continue;
      std::vector<Json> edited = objects;
      try {
        ApplyEdit(edited, edit);
      } catch (const Json::exception&) {
        continue;  // two edits of one place
      }
      objects = std::move(edited);
      words += std::string(", ") + edit.name;
    }
    const Imported imported = Import(FoundIn(objects), {}, Time());
    ASSERT_TRUE(imported.configuration.has_value()) << words << "\n"
                                                    << LinesOf(imported) << imported.text;
    for (const ObjectChange& each : imported.objects) {
      EXPECT_NE(each.what, ObjectChange::What::kLeaves) << words << ": " << each.title;
      for (const FieldChange& field : each.fields) {
        EXPECT_TRUE(field.before.is_null() || IsOnPurpose(field.path))
            << words << ": " << each.title << " " << field.path << ": " << field.before << " -> "
            << field.after;
      }
    }
  }
}

TEST(Import, KeepsWhatRunsWhateverUsersChanged) {
  ExpectKept("aibrix-00-sample", AibrixEdits(), 1);
  ExpectKept("aibrix-02-22", AibrixEdits(), 2);
  ExpectKept("ome-00-sample", OmeEdits(), 3);
}

// As somebody would have applied them who is not mindgate.
std::vector<Json> WithoutMarks(const std::vector<RenderedObject>& rendered) {
  std::vector<Json> objects;
  for (const RenderedObject& each : rendered) {
    Json object = each.object;
    for (const std::string_view mark : {kManagedBy, kInstance, kFrameworkLabel}) {
      object["metadata"]["labels"].erase(std::string(mark));
    }
    object["metadata"]["annotations"].erase(std::string(kApplication));
    objects.push_back(std::move(object));
  }
  return objects;
}

TEST(Import, IsTheInverseOfRendering) {
  std::vector<std::string> texts = {std::string(kOmeConfig), std::string(kAibrixConfig),
                                    std::string(StarterOf(Framework::kOme)),
                                    std::string(StarterOf(Framework::kAibrix))};
  for (const std::string& name : OracleNames()) {
    texts.push_back(ReadSource(kOracle + std::string("cfg/") + name + ".yaml"));
  }
  size_t compared = 0;
  for (const std::string& text : texts) {
    const Json direct = RenderedFrom(text);
    if (direct.empty()) continue;  // a file that is refused
    const auto rendered = Render(ReadConfiguration(text)->application);
    const Imported imported = Import(FoundIn(WithoutMarks(rendered)), {}, Time());
    const Json back = RenderedFrom(imported.text);
    ASSERT_EQ(back.size(), direct.size()) << text << imported.text;
    for (const auto& [title, object] : direct.items()) {
      ASSERT_TRUE(back.contains(title)) << text << imported.text;
      // Variables that replace those of mindgate stand elsewhere.
      EXPECT_THAT(ChangesBetween(object, back.at(title)), IsEmpty()) << text << imported.text;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 49u);
}

TEST(Import, WritesNoFileThatDeploysWithoutTheStore) {
  std::vector<Json> objects = OldObjects("ome-00-sample");
  objects.erase(objects.begin() + 1, objects.end());
  const FoundApplication found = FoundIn(objects);
  EXPECT_EQ(found.missing,
            (std::vector<std::string>{"Deployment my-test-mf-store", "Service my-test-mf-store"}));
  const Imported imported = Import(found, {}, Time());
  EXPECT_FALSE(imported.configuration.has_value());
  EXPECT_EQ(LinesOf(imported),
            "  fault line 2: an application with engine and decoder needs a store, through which "
            "they find each other\n  adds\n");
}

TEST(Import, NamesServicesThatNobodyNeeds) {
  std::vector<Json> objects = OldObjects("aibrix-00-sample");
  Json more = objects[2];
  more["metadata"]["name"] = "my-test-prefill-2";
  objects.push_back(more);
  const Imported imported = Import(FoundIn(objects), {}, Time());
  ASSERT_FALSE(imported.objects.empty());
  EXPECT_EQ(imported.objects.back().title, "Service my-test-prefill-2");
  EXPECT_EQ(imported.objects.back().what, ObjectChange::What::kLeaves);
}

}  // namespace
}  // namespace mindgate::deploy
