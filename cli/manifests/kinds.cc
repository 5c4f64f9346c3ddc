#include "schemas/kinds.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/console/columns.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/manifests/explain.h"
#include "offline/evaluate.h"
#include "schemas/all_kinds.h"
#include "schemas/site_kinds.h"

namespace mindgate::cli {
namespace {

using nlohmann::ordered_json;
using schemas::KindInfo;

// What is listed of a kind.
struct Listed {
  const KindInfo& info;
  std::vector<const KindInfo*> makes;
};

std::vector<Listed> ListedOf(const schemas::SiteKinds& site) {
  const std::vector<const KindInfo*> all = AllKinds(site);
  std::vector<Listed> listed;
  for (const KindInfo* info : all) {
    Listed& kind = listed.emplace_back(Listed{*info, {}});
    for (const KindInfo* made : all) {
      if (Makes(*info, *made)) kind.makes.push_back(made);
    }
  }
  return listed;
}

bool HasPods(const Listed& kind) { return schemas::kWorkloads.Has(kind.info.kind); }

ordered_json MadeJson(const Listed& kind) {
  ordered_json makes = ordered_json::array();
  for (const KindInfo* made : kind.makes) {
    makes.push_back({{"apiVersion", ApiVersionOf(*made)}, {"kind", made->name}});
  }
  return makes;
}

ordered_json NamesOfMade(const Listed& kind) {
  std::vector<std::string_view> names;
  for (const KindInfo* made : kind.makes) names.push_back(made->name);
  return Join(names, ", ");
}

constexpr Column<Listed> kKindColumns[] = {
    {nullptr, "apiVersion",
     [](const Listed& kind) -> ordered_json { return ApiVersionOf(kind.info); }},
    {"KIND", "kind", [](const Listed& kind) -> ordered_json { return kind.info.name; }},
    {"APIVERSION", nullptr,
     [](const Listed& kind) -> ordered_json { return ApiVersionOf(kind.info); }},
    {nullptr, "resource", [](const Listed& kind) -> ordered_json { return kind.info.plural; }},
    {nullptr, "scope",
     [](const Listed& kind) -> ordered_json {
       return kind.info.cluster_scoped ? "Cluster" : "Namespaced";
     }},
    {nullptr, "injected", [](const Listed& kind) -> ordered_json { return HasPods(kind); }},
    {"INJECTED", nullptr,
     [](const Listed& kind) -> ordered_json { return HasPods(kind) ? "yes" : "no"; }},
    {"PROFILE", "profile",
     [](const Listed& kind) -> ordered_json {
       return HasPods(kind) ? ordered_json(InfoOf(kind.info.framework).name) : ordered_json();
     }},
    {nullptr, "webhook", [](const Listed& kind) -> ordered_json { return kind.info.webhook; }},
    {nullptr, "makes", MadeJson},
    {"MAKES", nullptr, NamesOfMade},
    {nullptr, "mayDisableRescheduling",
     [](const Listed& kind) -> ordered_json { return kind.info.may_disable_rescheduling; }},
};
constexpr std::span<const Column<Listed>> kColumns(kKindColumns);

// What mindgate.yaml may switch on by name.
ordered_json ShippedJson() {
  ordered_json shipped = ordered_json::array();
  for (const schemas::ShippedKinds& each : schemas::AllShippedKinds()) {
    ordered_json kinds = ordered_json::array();
    for (const schemas::SiteKind& kind : schemas::ShippedKindsNamed(each.name)) {
      kinds.push_back({{"apiVersion", kind.group + "/" + kind.version},
                       {"kind", kind.kind},
                       {"resource", kind.plural},
                       {"profile", InfoOf(kind.framework).name},
                       {"makes", kind.makes}});
    }
    shipped.push_back({{"use", each.name}, {"project", each.project}, {"kinds", std::move(kinds)}});
  }
  return shipped;
}

ordered_json KindsJson(const std::vector<Listed>& listed) {
  ordered_json kinds = ordered_json::array();
  for (const Listed& kind : listed) kinds.push_back(MembersOf(kColumns, kind));
  return {{"kinds", std::move(kinds)}, {"shipped", ShippedJson()}};
}

void PrintKinds(const std::vector<Listed>& listed, const Paint& paint, std::ostream& out) {
  std::vector<TableCell> header;
  AddTitles(kColumns, false, header);
  Table table(std::move(header));
  for (const Listed& kind : listed) {
    std::vector<TableCell> row;
    AddCells(kColumns, false, kind, row);
    table.Add(std::move(row));
  }
  table.Print(paint, out);
}

std::vector<std::string> NamesOf(const std::vector<Listed>& listed) {
  std::vector<std::string> names;
  for (const auto& [info, makes] : listed) {
    names.push_back(std::string(info.plural) +
                    (info.group.empty() ? "" : "." + std::string(info.group)));
  }
  return names;
}

}  // namespace

int RunKinds(const KindsOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  const std::vector<Listed> listed = ListedOf(config->kinds);
  return PrintOutput(
      options.output,
      {.document = [&] { return KindsJson(listed); },
       .names = [&] { return NamesOf(listed); },
       .text = [&](std::ostream& out,
                   bool) { PrintKinds(listed, Paint(options.color, io.out_is_terminal), out); }},
      io);
}

void AddKinds(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<KindsOptions>();
  CLI::App* command =
      parent.add_subcommand("kinds", "List the kinds that are injected and checked");
  AddFlag(*command, "--config", options->config_file,
          "Configuration file, whose kinds are listed too", "CONFIG", "FILE");
  AddOutputOption(*command, options->output, {"table", "json", "yaml", "name", "jsonpath"},
                  "KINDS_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(PROFILE is the key under profiles of mindgate.yaml that has the injected defaults. MAKES is what the controller of
the kind makes: such objects are injected with their owner, and not again. With --config the kinds of that
mindgate.yaml follow the built-in ones. The JSON also has the kinds that mindgate.yaml switches on by name
(kinds: [{use: ray}]).
Examples:
  mindgate kinds
  mindgate kinds --config mindgate.yaml
  mindgate kinds -o jsonpath='{.kinds[*].resource}')");
  command->callback([options, &io, &exit_code] { exit_code = RunKinds(*options, io); });
}

}  // namespace mindgate::cli
