#include "admission/export/injections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "admission/export/cel_text.h"
#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::exported {
namespace {

using schemas::Config;
using schemas::Kind;
using schemas::KindInfo;
using schemas::KindSet;

struct Exported {
  std::string_view mutator;
  std::string_view why_not = {};
};

constexpr Exported kExported[] = {
    {"mindie-labels"},
    {"scheduler-name"},
    {"npu-requests"},
    {"visible-devices"},
    {"fault-scheduling"},
    {"pod-rescheduling"},
    {"recover-policy"},
    {"fault-retry-times"},
    {"runtime-labels",
     "it writes into runtimes and components of OME, whose templates several fields make"},
    {"min-available", "it counts what a gang has and what a rollout leaves of it"},
    {"restart-policy", "it writes into roles of AIBrix, of which there are several"},
    {"scaling-gate", "only mindgate's watcher opens the gate"},
};

constexpr std::string_view kSoftSharePolicy = "chip1-softShareDev";
constexpr std::string_view kSoftSharePrefix = "huawei.com/scheduler.softShareDev.";

constexpr std::string_view kLeaderPath = "/spec/leaderWorkerTemplate/leaderTemplate";
constexpr std::string_view kWorkerPath = "/spec/leaderWorkerTemplate/workerTemplate";

std::string MemberAt(std::string_view root, std::string_view path) {
  std::string dotted(root);
  for (const std::string_view token : Split(path, '/')) {
    if (!token.empty()) dotted += ".?" + std::string(token);
  }
  return dotted;
}

// The templates of one PodGroup that stand at a path of their own.
std::vector<std::string_view> PathsOf(const TemplatePlace& place) {
  if (place.role.empty()) return {place.path};
  return {kLeaderPath, kWorkerPath};
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

constexpr std::array kInjectedFaultLabels = {
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
        gang_(!place.role.empty() || place.tasks),
        template_(TemplateAt(place, "object")) {}

  Injections Make() {
    Add("podLabels", template_ + ".?metadata.?labels.orValue({})");
    Add("podAnnotations", template_ + ".?metadata.?annotations.orValue({})");
    // A leader that only coordinates is scheduled with its workers.
    Add("injected", "variables.templates.filter(t, !t.foreign && (" +
                        std::string(place_.role.empty() ? "t.npus" : "variables.anyNpus") +
                        " || variables.labels[?" + Quoted(schemas::kInject) +
                        "].orValue('') == 'enabled'))");
    Add("injects", place_.role.empty() ? "size(variables.injected) > 0"
                                       : "variables.injected.exists(t, " + IsHere() + ")");
    AddMindieLabels();
    if (IsOn("scheduler-name")) AddScheduler();
    if (!pods_ && IsOn("npu-requests")) AddRequests();
    if (IsOn("visible-devices")) AddDevices();
    AddFaultLabels();
    std::string reader;
    for (const Variable& each : own_) reader += ' ' + each.expression;
    injections_.variables = VariablesFor(reader, place_.kinds, config_, false);
    injections_.variables.insert(injections_.variables.end(), own_.begin(), own_.end());
    return std::move(injections_);
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
    injections_.texts.push_back({mutator, std::string(variable), where, key});
  }

  // Whether `t` is the template of this place.
  std::string IsHere() const {
    return place_.role.empty() ? "true" : "t.name == " + Quoted(place_.role);
  }

  // Text of a template before an update, which is of no account where templates cannot change.
  std::string Before(std::string_view path, const std::string& member) const {
    std::string updated = "request.operation == 'UPDATE'";
    if (!place_.role.empty()) updated += " && " + MemberAt("object", path) + ".hasValue()";
    return "(" + updated + " ? " + MemberAt("oldObject", path) + member + ".orValue('') : '')";
  }

  void AddMindieLabels() {
    if (pods_ || !IsOn("mindie-labels")) return;
    constexpr std::pair<std::string_view, std::string_view> kCopied[] = {
        {"jobId", schemas::kJobId},
        {"scalingRule", schemas::kScalingRule},
        {"groupName", schemas::kGroupName}};
    // Of several templates, one may be a router's, which no rule counts.
    const std::string copies = Quoted(schemas::kScalingRule) + " in variables.labels" +
                               (gang_ ? " && size(variables.templates) == 1" : "");
    if (place_.tasks) {
      std::vector<std::string_view> keys;
      for (const auto& [variable, key] : kCopied) keys.push_back(key);
      Add("taskLabels", copies + " ? variables.labels.transformMap(k, v, k in " + ListOf(keys) +
                            " && !(k in variables.templates[0].labels[0]), v) : {}");
      injections_.task_labels = true;
      return;
    }
    for (const auto& [variable, key] : kCopied) {
      const std::string quoted = Quoted(key);
      AddText("mindie-labels", variable, InjectedText::Where::kLabel, key,
              copies + " && !(" + quoted + " in variables.podLabels) ? variables.labels[?" +
                  quoted + "].orValue('') : ''");
    }
  }

  void AddScheduler() {
    const std::string volcanos =
        ListOf({std::string_view(config_.scheduler), schemas::kVolcanoScheduler});
    const std::string ours = Quoted(config_.scheduler);
    const auto add = [&](const std::string& unset, const std::string& name) {
      AddText("scheduler-name", "schedulerName", InjectedText::Where::kSpec, "schedulerName",
              "!(" + unset + ") ? '' : (" + name + ")");
    };
    if (place_.tasks) {
      // The job names the scheduler once, as one of its tasks does.
      const std::string named = "variables.templates.filter(t, t.scheduler in " + volcanos + ")";
      return add(template_ +
                     ".?spec.?schedulerName.orValue('') == '' && variables.injected.exists(t, "
                     "t.scheduler == '')",
                 "size(" + named + ") > 0 ? " + named + "[0].scheduler : " + ours);
    }
    // Two schedulers would wait for each other's pods of one PodGroup.
    const std::string unnamed = gang_
                                    ? "t.scheduler == '') && variables.templates.all(t, t.volcano)"
                                    : "t.scheduler in ['', 'default-scheduler'])";
    const std::string old = Before(place_.path, ".?spec.?schedulerName");
    add("variables.injects && variables.templates.exists(t, " + IsHere() + " && " + unnamed,
        pods_ ? ours : old + " in " + volcanos + " ? " + old + " : " + ours);
  }

  std::string Containers(std::string_view list) const {
    return template_ + ".?spec.?" + std::string(list) + ".orValue([])";
  }

  // A list of lines, those that `lines` gives of each container `c` of each task `t` for which
  // `tasks` holds, where variable `at` is "/spec/tasks/0/template/spec/containers/1". Lines, as CEL
  // cannot flatten lists of lists before Kubernetes 1.35.
  static std::string OfTasks(const std::string& tasks, const std::string& lines) {
    const auto of = [&](const std::string& list) {
      return "t.spec.?" + list +
             ".orValue([]).transformList(j, c, ['/spec/tasks/' + string(i) + '/template/spec/" +
             list + "/' + string(j)].map(at, " + lines + ")[0])";
    };
    return "variables.templates.transformList(i, t, " + tasks + ", (" + of("containers") + " + " +
           of("initContainers") + ").join('\\n')).join('\\n').split('\\n').filter(s, s != '')";
  }

  void AddRequests() {
    const std::string npus =
        "(k.matches(" + Quoted(WholeCards(config_)) + ") || k.matches(" + Quoted(kSlices) + "))";
    const std::string missing = npus + " && !(k in " + Requests("c") + ") && string(" +
                                Limits("c") + "[k]).matches('^0*[1-9][0-9]*$')";
    if (place_.tasks) {
      const std::string line =
          "at + '|' + string(c.name) + '|' + (c.?resources.?requests.hasValue() ? '' : 'bare') + "
          "'|' + k";
      Add("limitedOnly", OfTasks("t.npus", Limits("c") + ".filter(k, " + missing + ").map(k, " +
                                               line + ").join('\\n')") +
                             ".map(s, s.split('|'))");
      // The task, the list and the index of the container.
      const std::string limits =
          "variables.templates[int(w[0].split('/')[3])].spec[w[0].split('/')[6]]"
          "[int(w[0].split('/')[7])].resources.limits";
      Add("taskRequests",
          "variables.limitedOnly.map(w, {'path': dyn(w[0]), 'name': dyn(w[1]), 'bare': dyn(w[2] == "
          "'bare'), 'key': dyn(w[3]), 'value': dyn(" +
              limits + "[w[3]])})");
      injections_.task_requests = true;
      return;
    }
    const auto of = [&](std::string_view list) {
      return "!variables.templates.exists(t, " + IsHere() +
             " && t.npus) ? [] : " + Containers(list) +
             ".map(c, {'name': dyn(c.name), 'requests': dyn(" + Limits("c") +
             ".transformMap(k, v, " + missing + ", v))}).filter(e, size(e.requests) > 0)";
    };
    Add("requests", of("containers"));
    Add("initRequests", of("initContainers"));
    injections_.requests = true;
  }

  void AddDevices() {
    const auto softly = [](const std::string& labels) {
      return labels + ".exists(k, k.startsWith(" + Quoted(kSoftSharePrefix) + "))";
    };
    const std::string policy =
        "[?" + Quoted(schemas::kSchedulePolicy) + "].orValue('') == " + Quoted(kSoftSharePolicy);
    Add("shared", "variables.annotations" + policy +
                      " || variables.templates.exists(t, t.annotations[0]" + policy + ") || " +
                      softly("variables.labels"));
    const auto names = [](std::string_view pattern) {
      return NamesAskedFor("c", "k.matches(" + Quoted(pattern) + ")");
    };
    const std::string cards = names(WholeCards(config_));
    const std::string lacks =
        "size(" + cards + ") == 1 && size(" + names(kSlices) +
        ") == 0 && !c.?env.orValue([]).exists(e, e.name == " + Quoted(schemas::kVisibleDevices) +
        ")";
    const std::string first = "size(c.?env.orValue([])) == 0";
    const std::string placed = "t.volcano && !t.foreign && !" + softly("t.labels[0]");
    injections_.devices = true;
    if (place_.tasks) {
      Add("devices",
          "variables.shared ? [] : " +
              OfTasks(placed, lacks + " ? at + '/env|' + (" + first +
                                  " ? 'first' : '') + '|' + string(" + cards + "[0]) : ''") +
              ".map(s, s.split('|')).map(w, {'path': dyn(w[0]), 'first': dyn(w[1] == "
              "'first'), 'resource': dyn(w[2])})");
      return;
    }
    const auto of = [&](std::string_view list) {
      return Containers(list) + ".filter(c, " + lacks + ").map(c, {'path': dyn(" +
             Quoted(std::string(place_.path) + "/spec/" + std::string(list) + "/") + " + string(" +
             Containers(list) + ".indexOf(c)) + '/env'), 'first': dyn(" + first +
             "), 'resource': dyn(" + cards + "[0])})";
    };
    Add("devices", "variables.shared || !variables.templates.exists(t, " + IsHere() + " && " +
                       placed + ") ? [] : " + of("containers") + " + " + of("initContainers"));
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

  // The variables of a label.
  static std::string Named(const FaultLabel& label, std::string_view what) {
    return "variables." + std::string(label.variable) + std::string(what);
  }
  static std::string Elsewhere(const FaultLabel& label) { return Named(label, "Elsewhere"); }
  static std::string Here(const FaultLabel& label) { return Named(label, "Here"); }
  static std::string OfGroup(const FaultLabel& label) { return Named(label, "OfGroup"); }

  // Texts of the label where nothing reads them, the first of which counts.
  std::string Misplaced(std::string_view key) const {
    std::string maps = "variables.labels, variables.annotations";
    if (schemas::kBatchJobs.Intersects(place_.kinds) && place_.kinds.Has(Kind::kCronJob)) {
      const std::string job = "object.?spec.?jobTemplate.?metadata.?";
      maps += ", " + job + "labels.orValue({}), " + job + "annotations.orValue({})";
    }
    return ValuesIn("(variables.templates.map(t, t.annotations[0]) + [" + maps + "])", key);
  }

  // What the templates of the PodGroup get that lack the label.
  std::string ValueOf(const FaultLabel& label) const {
    const std::string repeated = ".matches(" + Quoted(label.repeated) + ")";
    const auto first = [&](const std::string& texts, const std::string& also) {
      return "size(" + texts + ") > 0 ? (" + also + texts + "[0]" + repeated + " ? " + texts +
             "[0] : '') : ";
    };
    std::string value;
    if (gang_) {
      const std::string here = Here(label);
      value = first(here, here + ".all(v, v.lowerAscii() == " + here + "[0].lowerAscii()) && ");
    }
    if (!pods_ && !place_.tasks) {
      std::string old;
      for (const std::string_view path : PathsOf(place_)) {
        if (!old.empty()) old += ", ";
        old += Before(path, ".?metadata.?labels[?" + Quoted(label.key) + "]");
      }
      const std::string kept = "[" + old + "].filter(v, v.matches(" + Quoted(label.kept) + "))";
      value += "size(" + kept + ") > 0 ? " + kept + "[0] : ";
    }
    return value + first(Elsewhere(label), "") + Default(label);
  }

  // Whether this place gets what template `t`, which is of its PodGroup, lacks.
  std::string IsCompleted() const {
    std::string completed = IsHere();
    for (const std::string_view path : PathsOf(place_)) {
      if (path == place_.path) continue;
      completed += " || request.operation == 'CREATE' || " + MemberAt("object", path) +
                   " != " + MemberAt("oldObject", path);
    }
    return "(" + completed + ")";
  }

  void AddFaultLabels() {
    const auto& [scheduling, rescheduling, retries] = kInjectedFaultLabels;
    for (const FaultLabel& label : kInjectedFaultLabels) {
      const std::string variable(label.variable);
      Add(variable + "Elsewhere", Misplaced(label.key));
      if (gang_) {
        Add(variable + "Here",
            ValuesIn("variables.templates.map(t, t.labels[0])", label.key) + ".map(v, string(v))");
      }
      Add(variable + "OfGroup", ValueOf(label));
    }
    const std::string seen = SeenLabel("t", scheduling.key);
    std::string rescheduled =
        "variables.injects && variables.injected.all(t, t.volcano && " + seen + " != 'off')";
    if (pods_) {
      rescheduled +=
          " && object.?metadata.?ownerReferences.orValue([]).exists(o, "
          "o.?controller.orValue(false))";
    }
    Add("rescheduled", rescheduled);
    const auto add = [&](const FaultLabel& label, const std::string& unless) {
      AddText(
          label.mutator, label.variable, InjectedText::Where::kLabel, label.key,
          unless + " || " + Quoted(label.key) + " in variables.podLabels ? '' : " + OfGroup(label));
    };
    const bool on = IsOn(scheduling.mutator);
    if (on) add(scheduling, "!variables.rescheduled");
    const std::string value = on ? Named(scheduling, "") : "''";
    const std::string elsewhere = "size(" + Elsewhere(scheduling) + ") > 0";
    const std::string written =
        gang_ ? elsewhere + " || size(" + Here(scheduling) + ") > 0" : elsewhere;
    // The other labels mean nothing without it.
    const std::string labelled =
        "variables.injected.all(t, " + seen + " != null" +
        (on ? " || " + OfGroup(scheduling) + " != '' && " + IsCompleted() : "") + ")";
    Add("limited", "variables.rescheduled && (" + labelled + " ? " + value +
                       " != 'off' : " + Default(scheduling) + " != '' && !(" + written + "))");
    if (!place_.tasks && IsOn(rescheduling.mutator)) {
      std::string chosen;
      if (!gang_) {
        chosen = " || (" + Quoted(scheduling.key) + " in variables.podLabels || " + elsewhere +
                 ") && size(" + Elsewhere(rescheduling) + ") == 0";
      }
      Add("limitedToPods", "variables.limited && !(" + SharesRankTable() + chosen + ")");
      add(rescheduling, "!variables.limitedToPods");
      if (IsOn("recover-policy")) AddRecoverPolicy(rescheduling);
    }
    if (IsOn(retries.mutator)) add(retries, "!variables.limited || " + RestartsInPlace());
  }

  // The plugin takes the annotation from one arbitrary pod: all of a PodGroup get it.
  void AddRecoverPolicy(const FaultLabel& rescheduling) {
    AddText("recover-policy", "recoverPolicy", InjectedText::Where::kAnnotation,
            schemas::kRecoverPolicyPath,
            "variables.limitedToPods && " + OfGroup(rescheduling) +
                " == 'on' && variables.injected.exists(t, !(" + Quoted(rescheduling.key) +
                " in t.labels[0]) && " + IsCompleted() + ") && !(" +
                Quoted(schemas::kRecoverPolicyPath) + " in variables.podAnnotations) ? 'pod' : ''");
  }

  // As admission/mutators/recovery.cc finds it.
  static std::string SharesRankTable() {
    std::string word;
    for (const char c : std::string_view("ranktable")) {
      if (!word.empty()) word += "[-_.]*";
      word += c;
    }
    const std::string pattern = Quoted("(?i)" + word);
    const std::string key = Quoted(schemas::kDeployName);
    return key + " in variables.labels || variables.templates.exists(t, " + key +
           " in t.labels[0] || t.spec.?volumes.orValue([]).exists(v, "
           "v.?configMap.?name.orValue('').startsWith(" +
           Quoted(schemas::kRankTablePrefix) + ") || v.?hostPath.?path.orValue('').matches(" +
           pattern + ") || v.?name.orValue('').matches(" + pattern + ")))";
  }

  // Only where the user chooses.
  std::string RestartsInPlace() const {
    constexpr KindSet kChoose = schemas::kVolcanoJobs | schemas::kBatchJobs | schemas::kPods;
    if (!kChoose.Intersects(place_.kinds)) return "false";
    const KindSet some = place_.kinds - (place_.kinds - kChoose);
    // A task restarts its containers unless it says otherwise, a batch/v1 Job must say so.
    return IsOf(some) + " && variables.injected.exists(t, t.spec.?restartPolicy.orValue('" +
           (place_.tasks ? "Always" : "Never") + "') != 'Never')";
  }

  const TemplatePlace& place_;
  const Config& config_;
  const bool pods_;
  const bool gang_;  // several templates share a PodGroup
  const std::string template_;
  std::vector<Variable> own_;
  Injections injections_;
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
      {"pods", schemas::kPods, ""},
      {"leaders", schemas::kLeaderWorkerSets, kLeaderPath, "leader"},
      {"workers", schemas::kLeaderWorkerSets, kWorkerPath, "worker"},
      {.name = "vcjobs", .kinds = KindSet{Kind::kVolcanoJob}, .path = "", .tasks = true}};
  return places;
}

std::string TemplateAt(const TemplatePlace& place, std::string_view root) {
  return MemberAt(root, place.path);
}

std::string AnyContainer(const TemplatePlace& place, std::string_view condition) {
  const auto in = [&](const std::string& spec) {
    return "(" + spec + ".?containers.orValue([]) + " + spec +
           ".?initContainers.orValue([])).exists(c, " + std::string(condition) + ")";
  };
  if (place.tasks) {
    return "object.?spec.?tasks.orValue([]).exists(r, " + in("r.?template.?spec") + ")";
  }
  std::string any;
  for (const std::string_view path : PathsOf(place)) {
    if (!any.empty()) any += " || ";
    any += in(MemberAt("object", path) + ".?spec");
  }
  return any;
}

Injections InjectionsAt(const TemplatePlace& place, const Config& config) {
  return Injector(place, config).Make();
}

std::string_view WhyNotInjected(std::string_view mutator) {
  const auto row = std::ranges::find(kExported, mutator, &Exported::mutator);
  return row == std::end(kExported) ? kNotInCel : row->why_not;
}

}  // namespace mindgate::exported
