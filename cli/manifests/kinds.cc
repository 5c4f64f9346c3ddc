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
#include "cli/manifests/explain.h"
#include "schemas/site_kinds.h"

namespace mindgate::cli {
namespace {

using nlohmann::ordered_json;
using schemas::KindInfo;

bool HasPods(const KindInfo& info) { return schemas::kWorkloads.Has(info.kind); }

ordered_json MadeJson(const KindInfo& info) {
  ordered_json makes = ordered_json::array();
  for (const KindInfo& made : schemas::kKinds) {
    if (!info.makes.Has(made.kind)) continue;
    makes.push_back({{"apiVersion", ApiVersionOf(made)}, {"kind", made.name}});
  }
  return makes;
}

ordered_json NamesOfMade(const KindInfo& info) {
  std::vector<std::string_view> names;
  for (const KindInfo& made : schemas::kKinds) {
    if (info.makes.Has(made.kind)) names.push_back(made.name);
  }
  return Join(names, ", ");
}

constexpr Column<KindInfo> kKindColumns[] = {
    {nullptr, "apiVersion",
     [](const KindInfo& info) -> ordered_json { return ApiVersionOf(info); }},
    {"KIND", "kind", [](const KindInfo& info) -> ordered_json { return info.name; }},
    {"APIVERSION", nullptr,
     [](const KindInfo& info) -> ordered_json { return ApiVersionOf(info); }},
    {nullptr, "resource", [](const KindInfo& info) -> ordered_json { return info.plural; }},
    {nullptr, "scope",
     [](const KindInfo& info) -> ordered_json {
       return info.cluster_scoped ? "Cluster" : "Namespaced";
     }},
    {nullptr, "injected", [](const KindInfo& info) -> ordered_json { return HasPods(info); }},
    {"INJECTED", nullptr,
     [](const KindInfo& info) -> ordered_json { return HasPods(info) ? "yes" : "no"; }},
    {"PROFILE", "profile",
     [](const KindInfo& info) -> ordered_json {
       return HasPods(info) ? ordered_json(InfoOf(info.framework).name) : ordered_json();
     }},
    {nullptr, "webhook", [](const KindInfo& info) -> ordered_json { return info.webhook; }},
    {nullptr, "makes", MadeJson},
    {"MAKES", nullptr, NamesOfMade},
    {nullptr, "mayDisableRescheduling",
     [](const KindInfo& info) -> ordered_json { return info.may_disable_rescheduling; }},
};
constexpr std::span<const Column<KindInfo>> kColumns(kKindColumns);

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

ordered_json KindsJson() {
  ordered_json kinds = ordered_json::array();
  for (const KindInfo& info : schemas::kKinds) kinds.push_back(MembersOf(kColumns, info));
  return {{"kinds", std::move(kinds)}, {"shipped", ShippedJson()}};
}

void PrintKinds(const Paint& paint, std::ostream& out) {
  std::vector<TableCell> header;
  AddTitles(kColumns, false, header);
  Table table(std::move(header));
  for (const KindInfo& info : schemas::kKinds) {
    std::vector<TableCell> row;
    AddCells(kColumns, false, info, row);
    table.Add(std::move(row));
  }
  table.Print(paint, out);
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const KindInfo& info : schemas::kKinds) {
    names.push_back(std::string(info.plural) +
                    (info.group.empty() ? "" : "." + std::string(info.group)));
  }
  return names;
}

}  // namespace

int RunKinds(const KindsOptions& options, Streams& io) {
  const auto print = [&](std::ostream& out, bool) {
    PrintKinds(Paint(options.color, io.out_is_terminal), out);
  };
  return PrintOutput(options.output, {.document = KindsJson, .names = KindNames, .text = print},
                     io);
}

void AddKinds(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<KindsOptions>();
  CLI::App* command =
      parent.add_subcommand("kinds", "List the kinds that are injected and checked");
  AddOutputOption(*command, options->output, {"table", "json", "yaml", "name", "jsonpath"},
                  "KINDS_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(PROFILE is the key under profiles of mindgate.yaml that has the injected defaults. MAKES is what the controller of
the kind makes: such objects are injected with their owner, and not again. The JSON also has the kinds that
mindgate.yaml switches on by name (kinds: [{use: ray}]).
Examples:
  mindgate kinds
  mindgate kinds -o jsonpath='{.kinds[*].resource}')");
  command->callback([options, &io, &exit_code] { exit_code = RunKinds(*options, io); });
}

}  // namespace mindgate::cli
