#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::common {
namespace {

using Values = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kFaultSchedulingValues = {
    "force", "grace", "external-force", "external-grace", "off"};
constexpr std::array<std::string_view, 3> kSchedulingByVolcano = {"force", "grace", "off"};
constexpr std::array<std::string_view, 3> kSchedulingByInstance = {"external-force",
                                                                   "external-grace", "off"};
constexpr std::array<std::string_view, 2> kOnOff = {"on", "off"};
// ClusterD itself writes "pause" when a recovery in process failed.
constexpr std::array<std::string_view, 3> kProcessRecoverValues = {"on", "off", "pause"};
constexpr std::array<std::string_view, 4> kSubHealthyStrategies = {"ignore", "graceExit",
                                                                   "forceExit", "hotSwitch"};
constexpr std::array<std::string_view, 3> kTorAffinities = {"large-model-schema", "normal-schema",
                                                            "null"};
constexpr std::array<std::string_view, 6> kRecoverStrategies = {
    "retry", "recover", "recover-in-place", "elastic-training", "dump", "exit"};

// clusterd: pkg/application/recover/controller.go; anything else silently becomes 270 s.
constexpr int64_t kShortestRescheduleWait = 30;
constexpr int64_t kMaxRescheduleWait = 270;
constexpr int64_t kMaxFilterSeconds = 86400;  // clusterd accepts 0..86400

constexpr size_t kMaxStrategies = 32;  // far more than there are

constexpr std::string_view kWaitRescheduleTimeout = "wait-reschedule-timeout";
constexpr std::string_view kTorAffinity = "tor-affinity";
constexpr std::string_view kFilterKeys[] = {"huawei.com/schedule.filter.faultCode",
                                            "huawei.com/schedule.filter.faultLevel"};

bool Contains(Values values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string DidYouMean(std::string_view value, Values values) {
  const auto nearest = NearestOf(value, values);
  return nearest ? ", did you mean " + Quote(*nearest) + "?" : "";
}

// Reports every value of the label that is none of `values`, and suggests one of `offered`;
// `effect` continues "fault-scheduling is "x", ".
void CheckValues(const RuleContext& context, std::string_view key, Values values, Values offered,
                 std::string_view effect, Findings& findings) {
  for (const TextEntry& entry : ReachingLabels(context.view, key)) {
    if (Contains(values, entry.value)) continue;
    const auto nearest = NearestOf(entry.value, offered);
    findings.Violate(entry.Path(),
                     std::string(key) + " is " + Quote(entry.value) + ", " + std::string(effect) +
                         DidYouMean(entry.value, offered),
                     nearest ? WriteText(key, *nearest, MeansOnly(entry.value, *nearest, offered))
                             : Fix("write " + std::string(key) + ": " + OneOf(offered)));
  }
}

// Filters may be separated by ASCII or full-width commas and colons.
std::string WithAsciiPunctuation(std::string_view text) {
  constexpr std::string_view kWideComma = "\xEF\xBC\x8C";
  constexpr std::string_view kWideColon = "\xEF\xBC\x9A";
  std::string out;
  while (!text.empty()) {
    if (text.starts_with(kWideComma) || text.starts_with(kWideColon)) {
      out += text.starts_with(kWideComma) ? ',' : ':';
      text.remove_prefix(kWideComma.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// What is wrong with one "code[:seconds]"; empty when nothing.
std::string FaultOfFilter(std::string_view entry) {
  const auto parts = Split(entry, ':');
  if (Trim(parts[0]).empty()) return "it does not name a fault";
  if (parts.size() == 1) return "";
  if (parts.size() > 2) return "it has more than one colon";
  const auto seconds = ParseGoInt(Trim(parts[1]));
  if (seconds && *seconds >= 0 && *seconds <= kMaxFilterSeconds) return "";
  return Quote(Trim(parts[1])) + " is not a number of seconds from 0 to 86400";
}

void CheckFaultSchedulingValue(const RuleContext& context, Findings& findings) {
  // Each of the others is a warning there.
  const bool by_instance = schemas::kInferOperatorKinds.Has(context.view.kind);
  CheckValues(
      context, schemas::kFaultScheduling, kFaultSchedulingValues,
      by_instance ? kSchedulingByInstance : kSchedulingByVolcano,
      "which the scheduler does not know: after a fault the job is stuck in its fault cache",
      findings);
}

void CheckPodReschedulingValue(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kPodRescheduling)) {
    if (Contains(kOnOff, entry.value) || entry.value == "false") continue;
    findings.Violate(entry.Path(),
                     "pod-rescheduling is " + Quote(entry.value) +
                         ", which counts as off: one fault deletes every pod of the group" +
                         DidYouMean(entry.value, kOnOff),
                     EqualIgnoreCase(entry.value, "on")
                         ? WriteText(schemas::kPodRescheduling, "on")
                         : R"(write pod-rescheduling: "on", or "off" if that is what you mean)");
  }
}

void CheckSubHealthyStrategyValue(const RuleContext& context, Findings& findings) {
  CheckValues(context, schemas::kSubHealthyStrategy, kSubHealthyStrategies, kSubHealthyStrategies,
              "which counts as ignore: pods stay on a sub-healthy card", findings);
}

void CheckHotSwitchOutsideJobs(const RuleContext& context, Findings& findings) {
  if (context.view.IsOwnedPod()) return;
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kSubHealthyStrategy)) {
    if (entry.value != "hotSwitch") continue;
    findings.Violate(entry.Path(),
                     "subHealthyStrategy hotSwitch has no effect here: only ascend-operator "
                     "switches the pods of AscendJobs over, and the scheduler waits for it in vain",
                     "write subHealthyStrategy: \"graceExit\" or \"forceExit\"");
  }
}

void CheckGraceOfRecovery(const RuleContext& context, Findings& findings) {
  if (!context.view.Annotation(schemas::kRecoverStrategy)) return;
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kFaultScheduling)) {
    if (entry.value != "force") continue;
    findings.Violate(entry.Path(),
                     "fault-scheduling is \"force\" beside recover-strategy: the pods are deleted "
                     "before the training process can recover in any of its ways",
                     "write fault-scheduling: \"grace\"");
  }
}

void CheckProcessRecoverValue(const RuleContext& context, Findings& findings) {
  CheckValues(context, schemas::kProcessRecover, kProcessRecoverValues, kProcessRecoverValues,
              "which counts as off: healthy pods are deleted along with the faulty one", findings);
}

void CheckTorAffinityValue(const RuleContext& context, Findings& findings) {
  CheckValues(context, kTorAffinity, kTorAffinities, kTorAffinities,
              "which the scheduler refuses: the job stays Pending", findings);
}

void CheckFaultRetryTimesValue(const RuleContext& context, Findings& findings) {
  const bool ascend_job = schemas::kAscendJobs.Has(context.view.kind);
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kFaultRetryTimes)) {
    const auto times = ParseGoInt(entry.value);
    if (times && *times >= 0) continue;
    std::string message = "fault-retry-times is " + Quote(entry.value);
    if (times) {
      message += ": with a negative budget failed pods are noticed but never restarted";
    } else {
      message += ", not a whole number, and counts as 0: failed pods are never restarted";
      if (ascend_job) message += "; the operator may not start the AscendJob at all";
    }
    findings.Violate(
        entry.Path(), std::move(message),
        R"(write a whole number of at least 0 in quotes, such as fault-retry-times: "3")");
  }
}

void CheckRecoverPolicyValue(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingAnnotations(context.view, schemas::kRecoverPolicyPath)) {
    if (entry.value == "pod") continue;
    findings.Violate(
        entry.Path(),
        "huawei.com/recover_policy_path is " + Quote(entry.value) +
            ", which has no effect: only \"pod\" keeps a fault from taking down the whole group",
        R"(write huawei.com/recover_policy_path: "pod", or remove the annotation)");
  }
}

void CheckWaitRescheduleTimeout(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingAnnotations(context.view, kWaitRescheduleTimeout)) {
    const auto seconds = ParseGoInt(entry.value);
    if (seconds && *seconds >= kShortestRescheduleWait && *seconds <= kMaxRescheduleWait) {
      continue;
    }
    findings.Violate(
        entry.Path(),
        "wait-reschedule-timeout is " + Quote(entry.value) +
            ", not seconds from 30 to 270: 270 is used instead",
        R"(write a whole number from 30 to 270 in quotes, such as wait-reschedule-timeout: "120")");
  }
}

void CheckFaultFilters(const RuleContext& context, Findings& findings) {
  for (std::string_view key : kFilterKeys) {
    for (const TextEntry& entry : ReachingAnnotations(context.view, key)) {
      // Switch fault codes are bracketed lists with commas of their own.
      if (entry.value.find('[') != std::string_view::npos) continue;
      const std::string text = WithAsciiPunctuation(entry.value);
      for (std::string_view filter : Split(text, ',')) {
        const std::string fault = FaultOfFilter(filter);
        if (fault.empty()) continue;
        findings.Violate(entry.Path(), "the filter " + Quote(filter) + " cannot be read: " + fault,
                         "write FAULT:SECONDS pairs separated by commas, such as "
                         "\"80E01801:60,RestartRequest:30\"");
      }
    }
  }
}

void CheckRecoverStrategy(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingAnnotations(context.view, schemas::kRecoverStrategy)) {
    const auto entries =
        static_cast<size_t>(std::count(entry.value.begin(), entry.value.end(), ',')) + 1;
    if (entries > kMaxStrategies) {
      findings.Violate(entry.Path(),
                       "recover-strategy has " + std::to_string(entries) +
                           " entries, but the operator knows " +
                           std::to_string(kRecoverStrategies.size()),
                       "write a comma-separated list of " + OneOf(kRecoverStrategies));
      continue;
    }
    const auto written = Split(entry.value, ',');
    std::vector<std::string_view> meant;
    for (std::string_view strategy : written) {
      const std::string_view trimmed = Trim(strategy);
      const auto nearest = NearestOf(trimmed, kRecoverStrategies);
      if (Contains(kRecoverStrategies, trimmed)) meant.push_back(trimmed);
      if (nearest) meant.push_back(*nearest);
    }
    const std::string fix = meant.empty()
                                ? "write a comma-separated list of " + OneOf(kRecoverStrategies)
                                : "write recover-strategy: " + Quote(Join(meant, ","));
    for (std::string_view strategy : written) {
      if (Contains(kRecoverStrategies, strategy)) continue;
      const std::string_view trimmed = Trim(strategy);
      const bool spaced = Contains(kRecoverStrategies, trimmed);
      findings.Violate(
          entry.Path(),
          "recover-strategy names " + Quote(strategy) +
              (spaced ? " with a space, and the operator compares without removing it: " +
                            std::string(trimmed) + " stays off"
                      : ", which the operator does not know" +
                            DidYouMean(trimmed, kRecoverStrategies)),
          fix);
    }
  }
}

constexpr Rule kFaultValueRules[] = {
    {.id = "MG050",
     .name = "fault-scheduling-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kScheduled,
     .summary = "The label fault-scheduling is force, grace, external-force, external-grace or "
                "off, in exactly this spelling.",
     .why = "Any other value is worse than off. The scheduler still notices the fault, adds the "
            "job to its cache of faulty jobs, fails to restart it in every session and, while the "
            "entry lasts (20 minutes by default), sees no other fault of the same job.",
     .fix = "Write fault-scheduling: \"force\" to delete faulty pods at once, or \"grace\" to let "
            "them terminate on their own first.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/{type,job}.go; "
               "the comparison is case-sensitive.",
     .check = CheckFaultSchedulingValue},
    {.id = "MG051",
     .name = "pod-rescheduling-value",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary = "The label pod-rescheduling is \"on\", or plainly off.",
     .why = "Anything other than exactly on counts as off, so one broken card takes down all pods "
            "of the PodGroup instead of one. An unquoted on is a boolean in YAML and often arrives "
            "here as \"true\" or \"True\".",
     .fix = "Write pod-rescheduling: \"on\" with the quotes, or remove the label.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. "
               "mindcluster-deploy: k8s-deploy-tool/src/core/config_parser.py turns an unquoted on "
               "into \"True\". Any value but on is a legal off: therefore a warning, and none for "
               "\"off\" and \"false\".",
     .check = CheckPodReschedulingValue},
    {.id = "MG052",
     .name = "sub-healthy-strategy-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kScheduled,
     .summary = "The label subHealthyStrategy is ignore, graceExit, forceExit or hotSwitch.",
     .why = "Any other value counts as ignore: pods stay on a card or node that reports itself "
            "sub-healthy until the fault becomes a hard failure in the middle of the work.",
     .fix = "Write one of the four values. Without the label the strategy is ignore.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. Some "
               "tables of the documents leave hotSwitch out or name another default; the code "
               "knows all four and falls back to ignore.",
     .check = CheckSubHealthyStrategyValue},
    {.id = "MG053",
     .name = "fault-retry-times-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kScheduled,
     .summary = "The label fault-retry-times is a whole number of at least 0, quoted.",
     .why = "A value that is not a number counts as 0: pods that fail on their own are never "
            "rescheduled. A negative number makes the scheduler notice failed pods and refuse to "
            "restart them. On an AscendJob an invalid value can keep the operator from starting "
            "the job at all.",
     .fix = "Write digits in quotes, such as fault-retry-times: \"3\". There is no upper limit in "
            "the code; the inference samples in the documents use 100000000.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go and "
               "component/ascend-operator/pkg/controllers/v1/ascendjob_controller.go "
               "(strconv.Atoi). The documents say 0 to 100, their own samples exceed it, the code "
               "does not check it: the range is not enforced here.",
     .check = CheckFaultRetryTimesValue},
    {.id = "MG054",
     .name = "process-recover-value",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary = "The label process-recover-enable is \"on\" or \"off\".",
     .why = "Any other value counts as off: instead of restarting the faulty process, the "
            "scheduler deletes the pods of the whole job.",
     .fix = "Write process-recover-enable: \"on\" with the quotes, or remove the label.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go. ClusterD "
               "itself writes \"pause\" after a failed recovery, so that value is accepted.",
     .check = CheckProcessRecoverValue},
    {.id = "MG059",
     .name = "recover-policy-value",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary = "The annotation huawei.com/recover_policy_path is \"pod\".",
     .why = "Only pod changes anything: it keeps a fault from spreading to the whole PodGroup when "
            "the single pod cannot be replaced in time. With job, pod,job or any other text the "
            "group is deleted after twelve sessions, as without the annotation.",
     .fix = "Write huawei.com/recover_policy_path: \"pod\", or remove the annotation.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/job.go, "
               "setReScheduleLimit. The documents list pod,job and job as values; the code "
               "compares with pod only.",
     .check = CheckRecoverPolicyValue},
    {.id = "MG061",
     .name = "wait-reschedule-timeout",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary =
         "The annotation wait-reschedule-timeout is a whole number of seconds from 30 to 270.",
     .why = "ClusterD silently replaces any other value with 270 s, so a process recovery waits "
            "longer for its rescheduled pod than requested.",
     .fix = "Write a number from 30 to 270 in quotes.",
     .source = "mind-cluster: component/clusterd/pkg/application/recover/controller.go.",
     .check = CheckWaitRescheduleTimeout},
    {.id = "MG062",
     .name = "fault-filters",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary = "huawei.com/schedule.filter.faultCode and .faultLevel are lists of FAULT or "
                "FAULT:SECONDS, with 0 to 86400 seconds.",
     .why = "ClusterD cannot read the entry, so the fault is not held back: a short disturbance "
            "that the application would survive restarts the job.",
     .fix = "Separate entries by commas and the seconds by a colon: \"8C1F8608:60,80E01801\". "
            "Without seconds the default is 60.",
     .source = "mind-cluster: component/clusterd, filters of a job's faults; full-width commas and "
               "colons are accepted there and here.",
     .check = CheckFaultFilters},
    {.id = "MG063",
     .name = "recover-strategy",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "The annotation recover-strategy of an AscendJob is a comma-separated list of "
                "retry, recover, recover-in-place, elastic-training, dump and exit.",
     .why = "Entries that the operator does not know set none of the variables that switch "
            "recovery on inside the training process, so every fault costs a full restart. It "
            "splits at commas and compares what is between them, spaces included.",
     .fix = "Write the entries without spaces, such as \"recover,dump\".",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go.",
     .check = CheckRecoverStrategy},
    {.id = "MG187",
     .name = "hot-switch-outside-jobs",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled - schemas::kAscendJobs,
     .summary = "subHealthyStrategy is hotSwitch on AscendJobs only.",
     .why = "With hotSwitch the scheduler leaves pods on a sub-healthy card alone until "
            "ascend-operator and ClusterD have made a backup of the pod, which they do for "
            "AscendJobs. Other pods stay where they are until the fault becomes a hard failure.",
     .fix = "Write graceExit or forceExit, or leave the label out.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/rescheduling/task.go "
               "(getTaskHealthStateBySubHealth). The pods still run: therefore a warning.",
     .check = CheckHotSwitchOutsideJobs},
    {.id = "MG188",
     .name = "recover-strategy-needs-grace",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "An AscendJob with recover-strategy has fault-scheduling grace.",
     .why = "recover-strategy keeps the training processes alive over a fault. With force the "
            "scheduler deletes the pods at once, and every fault costs a full restart.",
     .fix = "Write fault-scheduling: \"grace\". Where the label is left out, mindgate writes it.",
     .source = "mind-cluster: docs/zh/scheduling (configuration of resumable training), "
               "component/ascend-for-volcano/internal/rescheduling. Samples of guides combine "
               "them: therefore a warning.",
     .check = CheckGraceOfRecovery},
    {.id = "MG065",
     .name = "tor-affinity-value",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kScheduled,
     .summary = "The label tor-affinity is large-model-schema, normal-schema or null.",
     .why = "Any value but \"null\" hands the job to the plugin's switch affinity, which checks "
            "the value and refuses all others: the job fails validation in every session and stays "
            "Pending.",
     .fix = "Write one of the three values in quotes; \"null\" switches the affinity off.",
     .source = "mind-cluster: component/ascend-for-volcano/common/util/job.go "
               "(IsJobHasTorAffinityLabel), "
               "internal/nslb/frame.go; documents of basic scheduling.",
     .check = CheckTorAffinityValue},
};

}  // namespace

Family FaultValueRules() { return kFaultValueRules; }

}  // namespace mindgate::policies::common
