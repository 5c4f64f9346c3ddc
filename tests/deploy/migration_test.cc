// What changes for whoever moves from mindcluster-deploy's deploy tool with the files that they
// have: tests/oracle/deploy has 57 of them, and what that tool makes of each.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/value.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;

// Differences of nearly every file, in a word each; the key of the list is how a path ends.
struct Usual {
  const char* word;
  std::vector<const char*> ends;
};
const std::vector<Usual>& UsualDifferences() {
  static const std::vector<Usual> usual = {
      {"whose-it-is",
       {"/app.kubernetes.io~1instance", "/app.kubernetes.io~1managed-by", "/mindgate.io~1framework",
        "/mindgate.io~1application"}},
      {"fault-retry-times", {"/fault-retry-times"}},
      {"restart-policy", {"/restartPolicy"}},
      {"visible-devices", {" ASCEND_VISIBLE_DEVICES"}},
      {"probe-of-the-port", {"/readinessProbe"}},
      {"router-service", {"-router", " router/ports"}},
  };
  return usual;
}

// Lists of named items are compared by name, all others by position.
Json WithNamedItems(const Json& value) {
  if (value.is_object()) {
    Json out = Json::object();
    for (const auto& [key, member] : value.items()) out[key] = WithNamedItems(member);
    return out;
  }
  if (!value.is_array()) return value;
  const bool named =
      !value.empty() && std::all_of(value.begin(), value.end(), [](const Json& each) {
        return each.is_object() && each.contains("name");
      });
  Json out = named ? Json::object() : Json::array();
  for (const Json& each : value) {
    if (named) {
      out[" " + each.value("name", "")] = WithNamedItems(each);
    } else {
      out.push_back(WithNamedItems(each));
    }
  }
  return out;
}

// "add /metadata/labels/a: 1": what is not on the other side is one line for each of its members
// where it is a map of labels or annotations.
void AddDifferences(const Json& theirs, const Json& ours, const std::string& at,
                    std::vector<std::string>& lines) {
  // A quantity may be a number or a string.
  const bool same_text =
      theirs.is_string() && ours.is_number() && theirs.get<std::string>() == ours.dump();
  if (theirs == ours || same_text) return;
  if (theirs.is_object() && ours.is_object()) {
    std::set<std::string> keys;
    for (const Json* each : {&theirs, &ours}) {
      for (const auto& [key, value] : each->items()) keys.insert(key);
    }
    for (const std::string& key : keys) {
      const std::string below = json::Child(at, key);
      const bool is_map = key == "labels" || key == "annotations";
      const Json none = is_map ? Json::object() : Json();
      const Json& a = theirs.contains(key) ? theirs.at(key) : none;
      const Json& b = ours.contains(key) ? ours.at(key) : none;
      if (theirs.contains(key) && ours.contains(key)) {
        AddDifferences(a, b, below, lines);
      } else if (is_map) {
        AddDifferences(a.is_null() ? Json::object() : a, b, below, lines);
      } else if (ours.contains(key)) {
        lines.push_back("more " + below + ": " + b.dump());
      } else {
        lines.push_back("without " + below + ": " + a.dump());
      }
    }
    return;
  }
  lines.push_back(at + ": " + theirs.dump() + " becomes " + ours.dump());
}

Json ByTitleOf(const std::vector<Json>& objects) {
  Json all = Json::object();
  for (const Json& object : objects) all[TitleOf(object)] = WithNamedItems(object);
  return all;
}

std::string IssueLines(const json::Issues& issues, const char* word) {
  std::string text;
  for (const json::Issue& each : issues.items()) {
    const bool is_warning = each.message.starts_with("warning: ");
    text += std::string("  ") + word + " line " + std::to_string(each.at.line) + ": " +
            (is_warning ? each.message.substr(each.message.find(' ') + 1) : each.message) + "\n";
  }
  return text;
}

std::string CompareFile(const std::string& name) {
  const std::string folder = "tests/oracle/deploy/";
  const Json theirs = Json::parse(ReadSource(folder + "want/" + name + ".json"));
  const std::string text = ReadSource(folder + "cfg/" + name + ".yaml");
  std::string out = name + "\n";
  if (theirs.is_string()) out += "  theirs " + theirs.get<std::string>() + "\n";
  const auto read = ReadConfiguration(text, name.substr(0, name.find('-')));
  if (!read) return out + IssueLines(read.error(), "refused");
  out += IssueLines(read->warnings, "warning");
  const CheckedApplication checked = Check(*read, Render(read->application), {}, {}, Time());
  out += IssueLines(checked.override_warnings, "warning");
  std::vector<Json> objects;
  for (const RenderedObject& each : checked.objects) objects.push_back(each.object);
  for (const CheckFinding& each : checked.findings) {
    if (each.Denies()) {
      out += "  denied line " + std::to_string(each.at.line) + ": " +
             std::string(each.finding.rule == nullptr ? "" : each.finding.rule->id) + "\n";
    }
  }
  if (theirs.is_string()) {
    for (const Json& object : objects) out += "  more " + TitleOf(object) + "\n";
    return out;
  }
  std::vector<std::string> lines;
  AddDifferences(ByTitleOf(theirs.get<std::vector<Json>>()), ByTitleOf(objects), "", lines);
  std::set<std::string> usual;
  for (const std::string& line : lines) {
    const std::string path = line.substr(0, line.find(": "));
    bool is_usual = false;
    for (const Usual& each : UsualDifferences()) {
      if (std::any_of(each.ends.begin(), each.ends.end(),
                      [&path](const char* end) { return path.ends_with(end); })) {
        usual.insert(each.word);
        is_usual = true;
      }
    }
    if (!is_usual) out += "  " + line + "\n";
  }
  std::string words;
  for (const std::string& word : usual) words += " " + word;
  return out + "  usual:" + words + "\n";
}

TEST(Migration, WhatChangesWithTheFilesOfTheOtherTool) {
  std::set<std::string> names;
  for (const auto& each :
       std::filesystem::directory_iterator(SourcePath("tests/oracle/deploy/cfg"))) {
    names.insert(each.path().stem());
  }
  EXPECT_EQ(names.size(), 57u);
  std::string table;
  for (const std::string& name : names) table += CompareFile(name);
  ExpectGolden("tests/golden/deploy/migration.txt", table);
}

}  // namespace
}  // namespace mindgate::deploy
