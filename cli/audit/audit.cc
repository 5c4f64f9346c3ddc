#include "cli/audit/audit.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "audit/audit.h"
#include "audit/collections.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "cli/manifests/report_formats.h"
#include "cli/status/status.h"
#include "cli/what_if/what_if.h"
#include "doctor/installation.h"
#include "offline/evaluate.h"
#include "schemas/site_kinds.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using audit::LossEffect;
using audit::Recovery;
using audit::Workload;
using offline::FindingLevel;

void AddLoss(const std::optional<LossEffect>& effect, std::string_view id, const Workload& workload,
             offline::Reporter& reporter, offline::ReportedObject& object) {
  if (!effect || effect->recovery == Recovery::kRecovers) return;
  offline::ReportedFinding finding;
  finding.id = id;
  finding.level =
      effect->recovery == Recovery::kDegraded ? FindingLevel::kNote : FindingLevel::kWarning;
  finding.message = "if " + effect->loss + " dies, " + effect->instance.owner + " " +
                    EffectText(effect->instance);
  finding.fix = effect->instance.fix;
  reporter.Add(std::move(finding), workload.api_version, object);
}

OrderedJson EffectJson(const std::optional<LossEffect>& effect) {
  if (!effect) return nullptr;
  return {{"recovery", audit::RecoveryName(effect->recovery)},
          {"loss", effect->loss},
          {"podGroup", effect->instance.pod_group},
          {"text", EffectText(effect->instance)},
          {"fix", effect->instance.fix}};
}

OrderedJson FindingJson(const offline::ReportedFinding& finding) {
  return {{"rule", finding.id},
          {"name", finding.rule == nullptr ? finding.id : std::string(finding.rule->name)},
          {"level", offline::FindingLevelName(finding.level)},
          {"field", finding.field},
          {"message", finding.message},
          {"fix", finding.fix}};
}

OrderedJson WorkloadJson(const Workload& workload, bool supposed) {
  OrderedJson findings = OrderedJson::array();
  for (const auto& finding : workload.evaluated.findings) findings.push_back(FindingJson(finding));
  OrderedJson json = {{"namespace", workload.ns},
                      {"apiVersion", workload.api_version},
                      {"kind", workload.kind},
                      {"name", workload.name},
                      {"framework", workload.framework},
                      {"outcome", admission::OutcomeName(workload.evaluated.outcome)},
                      {"changes", workload.evaluated.changes},
                      {"findings", std::move(findings)}};
  if (!supposed) return json;
  const audit::Losses& losses = workload.losses;
  json["npus"] = losses.npus;
  json["pods"] = losses.pods;
  json["podsWithoutNode"] = losses.waiting;
  json["cardDies"] = EffectJson(losses.card);
  json["nodeDies"] = EffectJson(losses.node);
  return json;
}

}  // namespace

offline::Report ReportOf(const audit::Audit& audit) {
  offline::Report report;
  report.counts = audit.counts;
  offline::Reporter reporter(false);
  for (const Workload& workload : audit.workloads) {
    offline::ReportedObject object = workload.evaluated;
    AddLoss(workload.losses.card, audit::kLossOfCard, workload, reporter, object);
    AddLoss(workload.losses.node, audit::kLossOfNode, workload, reporter, object);
    report.objects.push_back(std::move(object));
  }
  return report;
}

std::string EffectText(const what_if::InstanceForecast& instance) {
  return InstanceVerdict(instance) + (instance.why.empty() ? "" : ": " + instance.why);
}

OrderedJson AuditJson(const audit::Audit& audit) {
  OrderedJson workloads = OrderedJson::array();
  for (const Workload& workload : audit.workloads) {
    workloads.push_back(WorkloadJson(workload, audit.supposed));
  }
  return {{"taken", FormatTime(audit.taken)},
          {"namespace", audit.ns},
          {"summary",
           {{"admitted", audit.counts.admitted},
            {"denied", audit.counts.denied},
            {"errors", audit.counts.errors},
            {"ended", audit.ended}}},
          {"lossesSupposed", audit.supposed},
          {"unread", audit.unread},
          {"workloads", std::move(workloads)}};
}

namespace {

// What is audited, and with which configuration.
struct AuditInputs {
  std::unique_ptr<Connection> connection;  // null: a snapshot
  std::optional<what_if::ClusterSnapshot> snapshot;
  std::unique_ptr<audit::ObjectSource> source;
  schemas::Config config;
  schemas::SiteKinds known;                     // of the site, also those that a snapshot lacks
  std::vector<const schemas::KindInfo*> kinds;  // as asked for, rows of `known`; empty: all
  std::string ns;                               // empty: all
  std::vector<std::string> unread;
};

std::optional<audit::AuditOptions> ReadOptions(const AuditCommandOptions& options, Streams& io) {
  audit::AuditOptions read{.strict = options.strict, .now = SystemClock().WallNow()};
  auto selector = offline::ReadSelector(options.selector, io.err);
  if (!selector) return std::nullopt;
  read.selector = *std::move(selector);
  return read;
}

// Those in ConfigMaps of the cluster; empty for a snapshot.
offline::ConfigMapPolicies ConfigMapsOf(const AuditInputs& inputs) {
  if (inputs.connection == nullptr) return {};
  return [client = &inputs.connection->client()]() -> Result<admission::PolicyTexts> {
    const std::string ns = FindInstallation(*client).value_or(doctor::Installation()).ns;
    const auto set = offline::ListPolicyConfigMaps(*client, ns);
    if (set) return set->Texts();
    return Fail(ErrorCode::kNotFound, offline::PolicyConfigMapsFault(ns, set.error()));
  };
}

// That of the flags, else that of the watcher with the policies of the flags. What of it the user
// may not read is added to `unread`.
std::optional<schemas::Config> ConfigOf(const AuditCommandOptions& options,
                                        const doctor::WatcherState& watcher, AuditInputs& inputs,
                                        Streams& io) {
  const offline::ConfigMapPolicies config_maps = ConfigMapsOf(inputs);
  if (!options.config_file.empty()) {
    return offline::LoadConfigFile(options.config_file, io.err, options.policies, config_maps);
  }
  schemas::Config config = watcher.config;
  const offline::StoredPolicies policies = offline::StoredPoliciesOf(config, watcher.stored);
  for (const std::string& file : policies.elsewhere) {
    inputs.unread.push_back("policies in " + file + ": they are not in the ConfigMap of mindgate");
  }
  const auto readable = [&]() -> Result<admission::PolicyTexts> {
    auto texts = config_maps();
    if (texts) return texts;
    inputs.unread.push_back("policies in ConfigMaps: " + texts.error().message());
    return admission::PolicyTexts();
  };
  if (!offline::LoadPolicies("", options.policies, config, io.err, readable, policies.texts)) {
    return std::nullopt;
  }
  return config;
}

// Reads the configuration, and which of its kinds the arguments name. False if one of them cannot
// be used; `io.err` says why.
bool ReadConfig(const AuditCommandOptions& options, const doctor::WatcherState& watcher,
                AuditInputs& inputs, Streams& io) {
  auto config = ConfigOf(options, watcher, inputs, io);
  if (!config) return false;
  inputs.config = *std::move(config);
  inputs.known = inputs.config.kinds;
  for (const std::string& words : options.kinds) {
    for (const std::string_view word : Split(words, ',')) {
      const auto kinds = audit::KindsNamed(word, inputs.known);
      inputs.kinds.insert(inputs.kinds.end(), kinds.begin(), kinds.end());
      if (!kinds.empty()) continue;
      const std::vector<std::string> names = audit::KindNames(inputs.known);
      const auto near = NearestOf(ToLower(word), names);
      PrintError(io.err, Quote(word) + " is not a kind that mindgate audits",
                 (near ? "did you mean " + Quote(*near) + "? " : "") +
                     "`mindgate kinds` lists all of them");
      return false;
    }
  }
  return true;
}

std::optional<AuditInputs> OfSnapshot(const AuditCommandOptions& options, Streams& io) {
  AuditInputs inputs;
  inputs.snapshot = ReadSnapshotFile(options.snapshot, io);
  if (!inputs.snapshot) return std::nullopt;
  if (!inputs.snapshot->workloads) {
    PrintError(io.err, "snapshot " + options.snapshot + " has no workloads",
               "take it with `mindgate snapshot --workloads -o FILE`");
    return std::nullopt;
  }
  if (!ReadConfig(options, {}, inputs, io)) return std::nullopt;
  inputs.ns = options.all_namespaces ? "" : options.cluster.default_namespace;
  auto source = std::make_unique<audit::SnapshotObjects>(*inputs.snapshot->workloads, inputs.ns);
  // Whoever took the snapshot may not have known all of them. Their pods are evaluated then.
  const auto is_there = [&source](const schemas::KindInfo& info) { return source->HasAny(info); };
  inputs.config.kinds = schemas::Only(inputs.known, is_there);
  inputs.unread = inputs.snapshot->workloads_unread;
  for (const schemas::KindInfo* kind : inputs.kinds) {
    if (kind->site == nullptr || is_there(*kind)) continue;
    inputs.unread.push_back(kind->site->TypeName() + ": the snapshot has none");
  }
  inputs.source = std::move(source);
  return inputs;
}

std::optional<AuditInputs> OfCluster(const AuditCommandOptions& options, const Clock& clock,
                                     Streams& io) {
  AuditInputs inputs;
  inputs.connection = Connect(options.cluster, clock, ForPeople(), io);
  if (inputs.connection == nullptr) return std::nullopt;
  kube::Client& client = inputs.connection->client();
  if (const auto version = client.GetPath("/version"); !version) {
    PrintError(io.err, "the cluster cannot be read: " + version.error().message);
    return std::nullopt;
  }
  const Time now = clock.WallNow();
  const doctor::WatcherState watcher = WatcherOf(client, now);
  if (!ReadConfig(options, watcher, inputs, io)) return std::nullopt;
  if (!watcher.mode)
    inputs.unread.push_back("the configuration of mindgate: " + watcher.why_no_mode);
  inputs.ns = options.all_namespaces ? "" : inputs.connection->ns();
  const auto text = what_if::TakeSnapshot(client, now, SnapshotOptionsOf(watcher), {});
  if (text) {
    inputs.snapshot = UnderstandSnapshot(*text, "the cluster", io);
    if (!inputs.snapshot) return std::nullopt;
  } else {
    inputs.unread.push_back("what the death of a card or a node does: " + text.error().message);
  }
  inputs.source = std::make_unique<audit::LiveObjects>(client, inputs.ns);
  return inputs;
}

std::optional<AuditInputs> ReadAuditInputs(const AuditCommandOptions& options, const Clock& clock,
                                           Streams& io) {
  auto inputs = options.snapshot.empty() ? OfCluster(options, clock, io) : OfSnapshot(options, io);
  if (inputs && inputs->snapshot && !options.config_file.empty()) {
    inputs->snapshot->watcher = what_if::SettingsOf(inputs->config);
  }
  return inputs;
}

}  // namespace

int RunAudit(const AuditCommandOptions& options, Streams& io) {
  auto read = ReadOptions(options, io);
  if (!read) return kExitUnusable;
  const SystemClock clock;
  const auto inputs = ReadAuditInputs(options, clock, io);
  if (!inputs) return kExitUnusable;
  read->ns = inputs->ns;
  read->kinds = inputs->kinds;
  if (inputs->connection == nullptr) read->now = inputs->snapshot->taken;
  audit::Audit audit;
  {
    Progress progress(io, "losses");
    audit =
        audit::Run(*inputs->source, inputs->snapshot ? &*inputs->snapshot : nullptr, inputs->config,
                   *read, [&](size_t done, size_t of) { progress.Show(done, of); });
  }
  audit.unread.insert(audit.unread.begin(), inputs->unread.begin(), inputs->unread.end());
  const WarningSink warn = PrintWarnings(io.err);
  for (const std::string& what : audit.unread) warn("not audited: " + what);
  const Printers printers = {.document = [&] { return AuditJson(audit); },
                             .names = {},
                             .text =
                                 [&](std::ostream& out, bool wide) {
                                   PrintAudit(audit, wide, Paint(options.color, io.out_is_terminal),
                                              out);
                                 }};
  const int exit_code = audit.denies() ? kExitDenied : kExitDone;
  if (options.output.Is("policyreport")) {
    PrintPolicyReports(audit, io.out);
    return exit_code;
  }
  if (IsReportFormat(options.output.word)) {
    PrintReport(options.output.word, ReportOf(audit), io.out);
    return exit_code;
  }
  return std::max(exit_code, PrintOutput(options.output, printers, io));
}

void AddAudit(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<AuditCommandOptions>();
  CLI::App* command = parent.add_subcommand(
      "audit", "Evaluate what a cluster runs, and show what would not survive a fault");
  command
      ->add_option("KIND", options->kinds,
                   "Kinds to evaluate, as kubectl takes them: deployments, lws, vcjobs. Separate "
                   "several with spaces or commas (default: all kinds)")
      ->type_name("");
  AddSwitch(*command, "-A,--all-namespaces", options->all_namespaces,
            "All namespaces, and what is in none", "AUDIT_ALL_NAMESPACES");
  AddFlag(*command, "-l,--selector", options->selector,
          "Label selector for objects. Supports a=b, a!=b, 'a in (b,c)', 'a notin (b)', a and !a",
          "SELECTOR", "SELECTOR");
  AddFlag(*command, "--snapshot", options->snapshot,
          "Snapshot file with workloads, or -, instead of the live cluster", "SNAPSHOT", "FILE");
  AddFlag(*command, "--config", options->config_file,
          "Configuration file (default: that of the running mindgate)", "CONFIG", "FILE");
  AddPoliciesOption(*command, options->policies);
  command->add_flag("--strict", options->strict, "Treat warnings as denials")
      ->envname("MINDGATE_STRICT");
  AddOutputOption(
      *command, options->output,
      {"table", "wide", "json", "yaml", "jsonpath", "sarif", "junit", "html", "policyreport"},
      "AUDIT_OUTPUT");
  AddColorOption(*command, options->color);
  AddKubeFlags(*command, options->cluster);
  command->footer(
      R"(Reads a cluster and evaluates every workload as admission would if it were created now, each once: pods and
ReplicaSets with the object that owns them. Then each card and each node is supposed to die alone: a workload
recovers, is degraded, hangs, stays unattended on faulty hardware, or is lost. Nothing is written. What may not
be read is named on standard error, and the rest is audited.
Exit codes: 0 nothing would be denied, 1 something would be denied, 2 the cluster or the arguments are unusable.

Examples:
  mindgate audit -A                              the worst of the whole cluster
  mindgate audit -n serving -o wide              all findings of a namespace, with their fixes
  mindgate audit lws,deployments -l team=search
  mindgate audit -A -o html > audit.html         a page for a browser
  mindgate audit -A -o policyreport | kubectl apply -f -
  mindgate snapshot --workloads -o cluster.json && mindgate audit -A --snapshot cluster.json)");
  command->callback([options, &io, &exit_code] { exit_code = RunAudit(*options, io); });
}

}  // namespace mindgate::cli
