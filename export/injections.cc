#include "export/injections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "export/cel_text.h"
#include "export/templates.h"
#include "schemas/names.h"

namespace mindgate::exported {
namespace {

using schemas::Config;
using schemas::Kind;
using schemas::KindInfo;
using schemas::KindSet;

struct NotInjected {
  std::string_view why;
  std::string_view mutator;
};

constexpr NotInjected kUninjected[] = {
    {"it writes into runtimes and components of OME, whose templates several fields make",
     "runtime-labels"},
    {"it counts what a gang has and what a rollout leaves of it", "min-available"},
    {"it writes into roles of AIBrix, of which there are several", "restart-policy"},
    {"only mindgate's watcher opens the gate", "scaling-gate"},
};

constexpr std::string_view kSoftSharePolicy = "chip1-softShareDev";
constexpr std::string_view kSoftSharePrefix = "huawei.com/scheduler.softShareDev.";

std::string MemberAt(std::string_view root, std::string_view path) {
  std::string dotted(root);
  for (const std::string_view token : Split(path, '/')) {
    if (!token.empty()) dotted += ".?" + std::string(token);
  }
  return dotted;
}

// A label that rescheduling reads: which texts of a user are repeated, and which of the object
// before an update may be an earlier injection.
struct FaultLabel {
  std::string_view mutator;
  std::string_view variable;
  std::string_view key;
  std::string schemas::Profile::* value;
  std::string_view repeated;
  std::string_view kept;
};

constexpr std::array kFaultLabels = {
    FaultLabel{"fault-scheduling", "faultScheduling", schemas::kFaultScheduling,
               &schemas::Profile::fault_scheduling, "^(force|grace|off)$",
               "^(external-)?(force|grace)$"},
    FaultLabel{"pod-rescheduling", "podRescheduling", schemas::kPodRescheduling,
               &schemas::Profile::pod_rescheduling, "^(on|off)$", "^on$"},
    FaultLabel{"fault-retry-times", "faultRetryTimes", schemas::kFaultRetryTimes,
               &schemas::Profile::fault_retry_times, kWholeFromOne, kWholeFromOne},
};

// Writes the variables of one place.
class Injector {
 public:
  Injector(const TemplatePlace& place, const Config& config)
      : place_(place),
        config_(config),
        pods_(schemas::kPods.Intersects(place.kinds)),
        template_(TemplateAt(place, "object")) {}

  Injections Make() {
    Add("podLabels", template_ + ".?metadata.?labels.orValue({})");
    Add("podAnnotations", template_ + ".?metadata.?annotations.orValue({})");
    Add("injects", "variables.templates.exists(t, !t.foreign && (t.npus || variables.labels[?" +
                       Quoted(schemas::kInject) + "].orValue('') == 'enabled'))");
    Add("scheduled", "variables.templates.exists(t, t.volcano)");
    AddMindieLabels();
    if (IsOn("scheduler-name")) AddScheduler();
    if (!pods_ && IsOn("npu-requests")) AddRequests();
    if (IsOn("visible-devices")) AddDevices();
    AddFaultLabels();
    std::string reader;
    for (const Variable& each : own_) reader += ' ' + each.expression;
    made_.variables = VariablesFor(reader, place_.kinds, config_, false);
    made_.variables.insert(made_.variables.end(), own_.begin(), own_.end());
    return std::move(made_);
  }

 private:
  bool IsOn(std::string_view mutator) const { return !config_.disabled_mutators.contains(mutator); }

  void Add(std::string_view name, std::string expression) {
    own_.push_back({std::string(name), std::move(expression)});
  }

  void AddText(std::string_view mutator, std::string_view variable, InjectedText::Where where,
               std::string_view key, const std::string& expression) {
    // dyn: a map has values of one type.
    Add(variable, "dyn(" + expression + ")");
    made_.texts.push_back({mutator, std::string(variable), where, key});
  }

  // Text of the template before an update, which is of no account where templates cannot change.
  std::string Before(const std::string& member) const {
    return "(request.operation == 'UPDATE' ? " + TemplateAt(place_, "oldObject") + member +
           ".orValue('') : '')";
  }

  void AddMindieLabels() {
    if (pods_ || !IsOn("mindie-labels")) return;
    constexpr std::pair<std::string_view, std::string_view> kCopied[] = {
        {"jobId", schemas::kJobId},
        {"scalingRule", schemas::kScalingRule},
        {"groupName", schemas::kGroupName}};
    for (const auto& [variable, key] : kCopied) {
      const std::string quoted = Quoted(key);
      AddText("mindie-labels", variable, InjectedText::Where::kLabel, key,
              Quoted(schemas::kScalingRule) + " in variables.labels && !(" + quoted +
                  " in variables.podLabels) ? variables.labels[?" + quoted + "].orValue('') : ''");
    }
  }

  void AddScheduler() {
    const std::string old = Before(".?spec.?schedulerName");
    const std::string volcanos =
        ListOf({std::string_view(config_.scheduler), schemas::kVolcanoScheduler});
    const std::string ours = Quoted(config_.scheduler);
    AddText("scheduler-name", "schedulerName", InjectedText::Where::kSpec, "schedulerName",
            "!(variables.injects && variables.templates.exists(t, t.scheduler in ['', "
            "'default-scheduler'])) ? '' : " +
                (pods_ ? ours : old + " in " + volcanos + " ? " + old + " : " + ours));
  }

  std::string Containers(std::string_view list) const {
    return template_ + ".?spec.?" + std::string(list) + ".orValue([])";
  }

  void AddRequests() {
    const std::string npus =
        "(k.matches(" + Quoted(WholeCards(config_)) + ") || k.matches(" + Quoted(kSlices) + "))";
    const auto of = [&](std::string_view list) {
      return Containers(list) + ".map(c, {'name': dyn(c.name), 'requests': dyn(" + Limits("c") +
             ".transformMap(k, v, " + npus + " && !(k in " + Requests("c") +
             ") && string(v).matches('^0*[1-9][0-9]*$'), v))}).filter(e, size(e.requests) > 0)";
    };
    Add("requests", of("containers"));
    Add("initRequests", of("initContainers"));
    made_.requests = true;
  }

  void AddDevices() {
    Add("shared", "[variables.podAnnotations, variables.annotations].exists(m, m[?" +
                      Quoted(schemas::kSchedulePolicy) +
                      "].orValue('') == " + Quoted(kSoftSharePolicy) +
                      ") || [variables.podLabels, variables.labels].exists(m, m.exists(k, "
                      "k.startsWith(" +
                      Quoted(kSoftSharePrefix) + ")))");
    const auto names = [](const std::string& pattern) {
      return "(" + Limits("c") + ".filter(k, " + Counts(Limits("c"), pattern) + ") + " +
             Requests("c") + ".filter(k, !(k in " + Limits("c") + ") && " +
             Counts(Requests("c"), pattern) + "))";
    };
    const std::string cards = names(WholeCards(config_));
    const auto of = [&](std::string_view list) {
      return Containers(list) + ".filter(c, size(" + cards + ") == 1 && size(" +
             names(std::string(kSlices)) + ") == 0 && !c.?env.orValue([]).exists(e, e.name == " +
             Quoted(schemas::kVisibleDevices) + ")).map(c, {'path': dyn(" +
             Quoted(std::string(place_.path) + "/spec/" + std::string(list) + "/") + " + string(" +
             Containers(list) +
             ".indexOf(c)) + '/env'), 'first': dyn(size(c.?env.orValue([])) == 0), 'resource': "
             "dyn(" +
             cards + "[0])})";
    };
    Add("devices",
        "!variables.templates.exists(t, t.volcano && !t.foreign) || variables.shared ? [] : " +
            of("containers") + " + " + of("initContainers"));
    made_.devices = true;
  }

  // Whether key `k` of the amounts is such a resource, and not 0 of it.
  static std::string Counts(const std::string& amounts, const std::string& pattern) {
    return "k.matches(" + Quoted(pattern) + ") && !string(" + amounts + "[k]).matches('^0+$')";
  }

  // What the profiles say, by kind.
  std::string Default(const FaultLabel& label) const {
    std::string choice;
    std::string last;
    for (const KindInfo& info : schemas::kKinds) {
      if (!place_.kinds.Has(info.kind)) continue;
      last = Quoted(config_.profile(info.framework).*label.value);
      choice += "variables.kind == " + Quoted(KindWord(info)) + " ? " + last + " : ";
    }
    bool same = true;
    for (const KindInfo& info : schemas::kKinds) {
      if (place_.kinds.Has(info.kind)) {
        same = same && Quoted(config_.profile(info.framework).*label.value) == last;
      }
    }
    return same ? last : "(" + choice + "'')";
  }

  // Texts of the label where nothing reads them, the first of which counts.
  std::string Misplaced(std::string_view key) const {
    std::string maps = "variables.podAnnotations, variables.labels, variables.annotations";
    if (schemas::kBatchJobs.Intersects(place_.kinds) && place_.kinds.Has(Kind::kCronJob)) {
      const std::string job = "object.?spec.?jobTemplate.?metadata.?";
      maps += ", " + job + "labels.orValue({}), " + job + "annotations.orValue({})";
    }
    return "[" + maps + "].filter(m, " + Quoted(key) + " in m).map(m, m[" + Quoted(key) + "])";
  }

  std::string ValueOf(const FaultLabel& label) const {
    const std::string misplaced = "variables." + MisplacedName(label);
    const std::string chosen = "size(" + misplaced + ") > 0 ? (" + misplaced + "[0].matches(" +
                               Quoted(label.repeated) + ") ? " + misplaced +
                               "[0] : '') : " + Default(label);
    if (pods_) return chosen;
    const std::string old = Before(".?metadata.?labels[?" + Quoted(label.key) + "]");
    return old + ".matches(" + Quoted(label.kept) + ") ? " + old + " : " + chosen;
  }

  static std::string MisplacedName(const FaultLabel& label) {
    return std::string(label.variable) + "Elsewhere";
  }

  void AddFaultLabels() {
    const auto& [scheduling, rescheduling, retries] = kFaultLabels;
    for (const FaultLabel& label : kFaultLabels) Add(MisplacedName(label), Misplaced(label.key));
    std::string rescheduled = "variables.injects && variables.scheduled";
    if (pods_) {
      rescheduled +=
          " && object.?metadata.?ownerReferences.orValue([]).exists(o, "
          "o.?controller.orValue(false))";
    }
    Add("rescheduled", rescheduled);
    const auto has = [](const FaultLabel& label) {
      return Quoted(label.key) + " in variables.podLabels";
    };
    const auto add = [&](const FaultLabel& label, const std::string& unless) {
      AddText(label.mutator, label.variable, InjectedText::Where::kLabel, label.key,
              unless + " || " + has(label) + " ? '' : " + ValueOf(label));
    };
    const bool on = IsOn(scheduling.mutator);
    if (on) add(scheduling, "!variables.rescheduled");
    const std::string value = on ? "variables.faultScheduling" : "''";
    const std::string elsewhere = "size(variables." + MisplacedName(scheduling) + ") > 0";
    // The other labels mean nothing without it.
    Add("limited", "variables.rescheduled && (" + has(scheduling) + " ? variables.podLabels[" +
                       Quoted(scheduling.key) + "] != 'off' : " + value + " != '' ? " + value +
                       " != 'off' : " + Default(scheduling) + " != '' && !(" + elsewhere + "))");
    if (IsOn(rescheduling.mutator)) {
      add(rescheduling, "!variables.limited || " + SharesRankTable() + " || (" + has(scheduling) +
                            " || " + elsewhere + ") && size(variables." +
                            MisplacedName(rescheduling) + ") == 0");
      if (IsOn("recover-policy")) {
        AddText("recover-policy", "recoverPolicy", InjectedText::Where::kAnnotation,
                schemas::kRecoverPolicyPath,
                "variables.podRescheduling == 'on' && !(" + Quoted(schemas::kRecoverPolicyPath) +
                    " in variables.podAnnotations) ? 'pod' : ''");
      }
    }
    if (IsOn(retries.mutator)) add(retries, "!variables.limited || " + RestartsInPlace());
  }

  // As mutators/pod_limit.cc finds it.
  std::string SharesRankTable() const {
    std::string word;
    for (const char c : std::string_view("ranktable")) {
      if (!word.empty()) word += "[-_.]*";
      word += c;
    }
    const std::string pattern = Quoted("(?i)" + word);
    return Quoted(schemas::kDeployName) + " in variables.podLabels || " +
           Quoted(schemas::kDeployName) + " in variables.labels || " + template_ +
           ".?spec.?volumes.orValue([]).exists(v, v.?configMap.?name.orValue('').startsWith(" +
           Quoted(schemas::kRankTablePrefix) + ") || v.?hostPath.?path.orValue('').matches(" +
           pattern + ") || v.?name.orValue('').matches(" + pattern + "))";
  }

  // Only where the user chooses.
  std::string RestartsInPlace() const {
    constexpr KindSet kChoose = schemas::kBatchJobs | schemas::kPods;
    if (!kChoose.Intersects(place_.kinds)) return "false";
    const KindSet some = place_.kinds - (place_.kinds - kChoose);
    return IsOf(some) + " && " + template_ + ".?spec.?restartPolicy.orValue('Never') != 'Never'";
  }

  const TemplatePlace& place_;
  const Config& config_;
  const bool pods_;
  const std::string template_;
  std::vector<Variable> own_;
  Injections made_;
};

constexpr KindSet HeldBy(std::string_view holder) {
  return schemas::KindsWith(
      [holder](const KindInfo& info) { return info.template_holder == holder; });
}

}  // namespace

const std::vector<TemplatePlace>& TemplatePlaces() {
  static const std::vector<TemplatePlace> places = {
      {"templates", HeldBy("/spec"), "/spec/template"},
      {"cronjobs", HeldBy("/spec/jobTemplate/spec"), "/spec/jobTemplate/spec/template"},
      {"pods", schemas::kPods, ""}};
  return places;
}

std::string TemplateAt(const TemplatePlace& place, std::string_view root) {
  return MemberAt(root, place.path);
}

Injections InjectionsAt(const TemplatePlace& place, const Config& config) {
  return Injector(place, config).Make();
}

std::string_view WhyNotInjected(std::string_view mutator) {
  for (const NotInjected& reason : kUninjected) {
    if (reason.mutator == mutator) return reason.why;
  }
  return {};
}

}  // namespace mindgate::exported
