#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text.h"
#include "policies/fault_checks.h"
#include "policies/places.h"
#include "schemas/names.h"

namespace mindgate::policies {
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
constexpr std::string_view kRecoverStrategy = "recover-strategy";
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
    findings.Violate(
        entry.Path(),
        std::string(key) + " is " + Quote(entry.value) + ", " + std::string(effect) +
            DidYouMean(entry.value, offered),
        "write " + std::string(key) + ": " + (nearest ? Quote(*nearest) : OneOf(offered)));
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

}  // namespace

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
                     R"(write pod-rescheduling: "on", or "off" if that is what you mean)");
  }
}

void CheckSubHealthyStrategyValue(const RuleContext& context, Findings& findings) {
  CheckValues(context, schemas::kSubHealthyStrategy, kSubHealthyStrategies, kSubHealthyStrategies,
              "which counts as ignore: pods stay on a sub-healthy card", findings);
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
  const bool ascend_job = context.view.kind == schemas::Kind::kAscendJob;
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
  for (const TextEntry& entry : ReachingAnnotations(context.view, kRecoverStrategy)) {
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
      findings.Violate(entry.Path(),
                       "recover-strategy names " + Quote(strategy) +
                           (spaced ? " with a space, and the operator compares without removing "
                                     "it: " +
                                         std::string(trimmed) + " stays off"
                                   : ", which the operator does not know" +
                                         DidYouMean(trimmed, kRecoverStrategies)),
                       fix);
    }
  }
}

}  // namespace mindgate::policies
