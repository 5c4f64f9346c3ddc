#include "deploy/import/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/import/patch.h"
#include "deploy/import/read.h"
#include "deploy/patches.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mindgate::deploy {
namespace {

using json::Json;

constexpr size_t kIndent = 2;

// Block-style YAML with the keys in their order.
void AppendYaml(const Block& value, size_t depth, std::string& out) {
  const std::string indent(depth * kIndent, ' ');
  for (const auto& [key, member] : value.items()) {
    const std::string lines =
        json::EncodeYaml(Json{{key, member.is_object() ? Json() : Json(member)}});
    if (member.is_object() && !member.empty()) {
      out += indent + lines.substr(0, lines.rfind(": null")) + ":\n";
      AppendYaml(member, depth + 1, out);
      continue;
    }
    const std::string text =
        member.is_object() ? lines.substr(0, lines.rfind(": null")) + ": {}\n" : lines;
    for (const std::string_view line :
         Split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
      if (!line.empty()) out += indent;
      out += std::string(line) + "\n";
    }
  }
}

std::string TextOfFile(const FoundApplication& found, const Block& document) {
  std::string text = "# Application " + found.app + " in namespace " + found.ns +
                     ", as it was found there by mindgate deploy --import.\n";
  AppendYaml(document, 0, text);
  return text;
}

class Importer {
 public:
  Importer(const FoundApplication& found, const schemas::Config& config, Time now)
      : found_(found), config_(config), now_(now) {}

  Imported Run() {
    const bool ome = found_.framework == Framework::kOme;
    Block document = ome ? ReadOme(found_) : ReadAibrix(found_);
    if (!Read(document)) return std::move(imported_);
    std::vector<RenderedObject> rendered = Render(imported_.configuration->application);
    ome ? AddOmeMaps(found_, rendered, document) : AddAibrixMaps(found_, rendered, document);
    if (!Read(document)) return std::move(imported_);
    AddPatches(document);
    if (imported_.configuration) Compare();
    return std::move(imported_);
  }

 private:
  bool Read(const Block& document) {
    imported_.text = TextOfFile(found_, document);
    imported_.faults = {};
    imported_.configuration.reset();
    auto read = ReadConfiguration(imported_.text);
    if (!read) {
      imported_.faults = std::move(read.error());
      return false;
    }
    imported_.configuration = *std::move(read);
    return true;
  }

  void AddPatches(Block& document) {
    Json patches = PatchesToward(found_, Render(imported_.configuration->application));
    imported_.patches = patches.size();
    if (patches.empty()) return;
    document["patches"] = Block(patches);
    Read(document);
  }

  void Compare() {
    const Configuration& configuration = *imported_.configuration;
    const CheckedApplication checked =
        Check(configuration, Render(configuration.application), config_, {}, now_);
    std::set<std::string> made;
    for (const RenderedObject& each : checked.objects) {
      made.insert(each.Title());
      ObjectChange change{.title = each.Title()};
      if (const Json* runs = found_.Object(change.title)) {
        change.fields = ChangesBetween(*runs, each.object);
        if (!change.fields.empty()) change.what = ObjectChange::What::kChanges;
      } else {
        change.what = ObjectChange::What::kCreates;
      }
      imported_.objects.push_back(std::move(change));
    }
    for (const Json& each : found_.objects) {
      if (made.contains(TitleOf(each))) continue;
      imported_.objects.push_back({.title = TitleOf(each), .what = ObjectChange::What::kLeaves});
    }
    imported_.findings = configuration.warnings;
    for (const CheckFinding& finding : checked.findings) {
      if (finding.Denies()) imported_.findings.Add(IssueOf(finding, checked));
    }
  }

  const FoundApplication& found_;
  const schemas::Config& config_;
  const Time now_;
  Imported imported_;
};

}  // namespace

Imported Import(const FoundApplication& found, const schemas::Config& config, Time now) {
  return Importer(found, config, now).Run();
}

}  // namespace mindgate::deploy
