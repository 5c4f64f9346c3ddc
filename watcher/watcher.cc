#include "watcher/watcher.h"

#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/metric_family.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/time.h"
#include "http/front_end.h"
#include "kube/events.h"
#include "schemas/names.h"
#include "watcher/certificates/controller.h"
#include "watcher/ended_servers/controller.h"
#include "watcher/fail_closed/controller.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/frame/informers.h"
#include "watcher/gang_repair/controller.h"
#include "watcher/rescheduling/reconciler.h"
#include "watcher/scaling/controller.h"

namespace mindgate::watcher {
namespace {

using OrderedJson = nlohmann::ordered_json;
using http::Request;
using http::Response;

// Of an answer of /decisions. The port has 4 MiB for all that it answers (http/front_end.h), and
// an answer is charged four-fold while it is made.
constexpr size_t kMaxDecisionsText = 512 * 1024;

OrderedJson EntryOf(const DecisionLog::Entry& entry) {
  const DecisionRecord& record = entry.record;
  const DecisionWords& words = WordsOf(record.kind);
  OrderedJson json = {
      {"time", FormatTime(entry.time)}, {"controller", words.controller}, {"namespace", record.ns}};
  for (const auto& [name, value] : record.about) json[name] = value;
  json["decision"] = words.word;
  json["enforced"] = record.enforced;
  json["reason"] = record.reason;
  return json;
}

std::string TextOf(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

// The newest that fit, the oldest of them first.
std::string Decisions(const DecisionLog& decisions, std::optional<std::string_view> ns,
                      size_t limit) {
  const auto entries = decisions.entries();
  std::vector<OrderedJson> newest;
  size_t bytes = 0;
  size_t older = 0;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (ns && entry->record.ns != *ns) continue;
    if (older > 0 || newest.size() == limit) {
      ++older;
      continue;
    }
    OrderedJson json = EntryOf(*entry);
    const std::string text = TextOf(json);
    // Each line is indented by four more.
    bytes += text.size() + 4 * (2 + std::count(text.begin(), text.end(), '\n'));
    if (bytes > kMaxDecisionsText) {
      ++older;
    } else {
      newest.push_back(std::move(json));
    }
  }
  OrderedJson answer = {{"decisions", OrderedJson::array()}};
  for (auto json = newest.rbegin(); json != newest.rend(); ++json) {
    answer["decisions"].push_back(std::move(*json));
  }
  if (older > 0) answer["more"] = "and " + std::to_string(older) + " older";
  return TextOf(answer) + "\n";
}

Response DecisionsResponse(const DecisionLog& decisions, const Request& request) {
  size_t limit = DecisionLog::kMaxEntries;
  if (const auto text = http::QueryValue(request.query(), "limit")) {
    const auto number = ParseGoInt(*text);
    if (!number || *number < 1) {
      return http::PlainText(400, "limit is not a number of decisions; write ?limit=100\n");
    }
    limit = std::min(limit, static_cast<size_t>(*number));
  }
  return http::PlainText(
      200, Decisions(decisions, http::QueryValue(request.query(), "namespace"), limit));
}

std::string ConfigFault(const ProbeSources& sources) {
  return sources.config_fault ? sources.config_fault() : "";
}

// Why a replica is not ready; empty if it is.
std::string Unready(const ProbeSources& sources) {
  if (sources.config != nullptr && sources.config->Get() == nullptr) {
    const std::string fault = ConfigFault(sources);
    return "no valid configuration yet" + (fault.empty() ? "" : ": " + fault);
  }
  for (const Controller* controller : sources.controllers) {
    if (!controller->enabled()) continue;
    if (std::string why = controller->unready(); !why.empty()) return why;
  }
  return "";
}

Response Readiness(const ProbeSources& sources, bool verbose) {
  if (const std::string why = Unready(sources); !why.empty()) {
    return http::PlainText(503, why + "\n");
  }
  std::string text = sources.leading() ? "ok: leading\n" : "ok: standing by\n";
  const std::string fault = verbose ? ConfigFault(sources) : "";
  if (!fault.empty()) {
    text += "the newest configuration is refused, the last valid one stays in use: " + fault + "\n";
  }
  return http::PlainText(200, std::move(text));
}

}  // namespace

std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources) {
  std::vector<http::Router::Route> routes = {
      {"/livez", [](const Request&) { return http::PlainText(200, "ok\n"); }},
      {"/readyz", [sources](const Request& request) {
         return Readiness(sources, http::QueryValue(request.query(), "verbose").has_value());
       }}};
  if (sources.metrics) {
    routes.push_back({"/metrics", [metrics = sources.metrics](const Request&) {
                        return http::MetricsText(metrics());
                      }});
  }
  if (sources.decisions != nullptr) {
    routes.push_back({"/decisions", [decisions = sources.decisions](const Request& request) {
                        return DecisionsResponse(*decisions, request);
                      }});
  }
  return routes;
}

namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// From a decision in memory to a call that had to wait for the API server.
const prometheus::Histogram::BucketBoundaries kBuckets = {0.001, 0.003, 0.01, 0.03, 0.05,
                                                          0.1,   0.3,   1,    3,    10};

// From a second, which a decision takes, to an hour, in which a large model is loaded.
const prometheus::Histogram::BucketBoundaries kRecoveryBuckets = {1,   3,   10,  30,   60,
                                                                  120, 300, 600, 1800, 3600};

// Off until the first successful load.
schemas::ElasticScaling ScalingOf(const Snapshot<schemas::Config>& config) {
  if (const auto now = config.Get()) return now->elastic_scaling;
  schemas::ElasticScaling none;
  none.mode = schemas::EnforcementMode::kOff;
  return none;
}

schemas::Rescheduling ReschedulingOf(const Snapshot<schemas::Config>& config) {
  if (const auto now = config.Get()) return now->rescheduling;
  schemas::Rescheduling none;
  none.mode = schemas::ReschedulingMode::kOff;
  return none;
}

std::chrono::seconds GraceOverTime(const Snapshot<schemas::Config>& config) {
  const auto now = config.Get();
  return now != nullptr ? now->grace_over_time : schemas::Config().grace_over_time;
}

bool RepairsGangs(const Snapshot<schemas::Config>& config) {
  const auto now = config.Get();
  return now != nullptr && now->gang_repair;
}

}  // namespace

class Watcher::Impl {
 public:
  Impl(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper, const Clock& clock,
       log::Logger& logger, const Leadership& leadership, const Snapshot<schemas::Config>& config,
       Options options)
      : sleeper_(sleeper),
        logger_(logger),
        leadership_(leadership),
        config_(config),
        options_(std::move(options)),
        recorder_(client, sleeper, clock, EventOptions(), options_.seed),
        decisions_(clock, logger, recorder_),
        gate_(writer, clock, budget_, {.ns = options_.own_namespace, .lease = options_.lease}),
        pods_(client, sleeper, clock, PodOptions()),
        latency_(prometheus::BuildHistogram()
                     .Name("mindgate_scaling_latency_seconds")
                     .Help("From a change in the cluster to the last call that it led to.")
                     .Register(registry_)
                     .Add({}, kBuckets)),
        fault_latency_(prometheus::BuildHistogram()
                           .Name("mindgate_rescheduling_latency_seconds")
                           .Help("From a change in the cluster to the last call that it led to.")
                           .Register(registry_)
                           .Add({}, kBuckets)),
        recovery_steps_(
            prometheus::BuildHistogram()
                .Name("mindgate_recovery_step_seconds")
                .Help("From the step before of a job's recovery from a fault; the first one is "
                      "decided, and counts from the report of the fault.")
                .Register(registry_)) {
    // So that each is there before the first fault.
    for (int i = 0; i < rescheduling::kRecoveryStepCount; ++i) {
      OfStep(static_cast<rescheduling::RecoveryStep>(i));
    }
    // A new controller is one entry.
    AddPodControllers(client, writer, sleeper, clock);
    AddOtherControllers(client, writer, sleeper, clock);
  }

  void Add(const std::function<std::unique_ptr<Controller>(PodInformer& pods)>& make) {
    controllers_.push_back(make(pods_));
  }

  void Run(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    threads.push_back(StartThread("pods", [&] { pods_.Run(stop); }));
    for (const auto& controller : controllers_) {
      threads.push_back(StartThread(std::string(controller->name()), [&, each = controller.get()] {
        while (!each->enabled()) {
          if (!sleeper_.Sleep(std::chrono::seconds(1), stop)) return;
        }
        each->Run(stop);
      }));
    }
  }

  void Refresh() {
    pods_.Refresh();
    for (const auto& controller : controllers_) controller->EnqueueAll();
  }

  std::vector<http::Router::Route> Routes() const {
    ProbeSources sources{.leading = [this] { return leadership_.leading(); },
                         .config = &config_,
                         .config_fault = options_.config_fault,
                         .decisions = &decisions_,
                         .metrics = [this] { return Metrics(); }};
    for (const auto& controller : controllers_) sources.controllers.push_back(controller.get());
    return ProbeRoutes(sources);
  }

 private:
  kube::Recorder::Options EventOptions() {
    return {.controller = std::string(schemas::kWatcherReporter),
            .instance = leadership_.identity(),
            .failed = [this](const kube::Fault& fault) {
              logger_.Warning("cannot write an Event", {{"fault", fault.message}});
            }};
  }

  PodInformer::Options PodOptions() {
    return {.ns = options_.ns, .failed = WarnOfWatchFaults(logger_, "pods"), .seed = options_.seed};
  }

  void AddPodControllers(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper,
                         const Clock& clock) {
    controllers_.push_back(std::make_unique<scaling::ScalingController>(
        client, writer, sleeper, clock, logger_, pods_, decisions_, gate_,
        scaling::ScalingController::Options{
            .ns = options_.ns,
            .without_rules = options_.without_rules,
            .settings = [this] { return ScalingOf(config_); },
            .term = term_,
            .observe_latency =
                [this](std::chrono::nanoseconds latency) {
                  latency_.Observe(std::chrono::duration<double>(latency).count());
                },
            .seed = options_.seed}));
    controllers_.push_back(std::make_unique<gang_repair::Controller>(
        client, writer, sleeper, clock, logger_, pods_, decisions_,
        gang_repair::Controller::Options{.enabled = [this] { return RepairsGangs(config_); },
                                         .term = term_,
                                         .seed = options_.seed}));
    controllers_.push_back(std::make_unique<rescheduling::ReschedulingController>(
        client, writer, sleeper, clock, logger_, pods_, decisions_, gate_,
        rescheduling::ReschedulingController::Options{
            .settings = [this] { return ReschedulingOf(config_); },
            .grace_over_time = [this] { return GraceOverTime(config_); },
            .term = term_,
            .dry_run = options_.dry_run,
            .ns = options_.own_namespace,
            .observe_latency =
                [this](std::chrono::nanoseconds latency) {
                  fault_latency_.Observe(std::chrono::duration<double>(latency).count());
                },
            .observe_step =
                [this](rescheduling::RecoveryStep step, std::chrono::nanoseconds took) {
                  OfStep(step).Observe(std::chrono::duration<double>(took).count());
                },
            .seed = options_.seed}));
  }

  void AddOtherControllers(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper,
                           const Clock& clock) {
    controllers_.push_back(std::make_unique<ended_servers::Controller>(
        client, sleeper, clock, logger_, decisions_,
        ended_servers::Controller::Options{
            .enabled =
                [this] { return ReschedulingOf(config_).mode != schemas::ReschedulingMode::kOff; },
            .ns = options_.ns,
            .term = term_,
            .seed = options_.seed}));
    if (options_.manage_certs) {
      controllers_.push_back(std::make_unique<CertificateController>(
          writer, clock, logger_,
          CertificateController::Options{
              .manager = options_.certs, .term = term_, .seed = options_.seed}));
    }
    if (options_.fail_closed) {
      controllers_.push_back(std::make_unique<fail_closed::Controller>(
          writer, clock, logger_,
          fail_closed::Controller::Options{.ns = options_.own_namespace,
                                           .webhooks = options_.certs.webhooks,
                                           .term = term_,
                                           .seed = options_.seed}));
    }
  }

  prometheus::Histogram& OfStep(rescheduling::RecoveryStep step) {
    return recovery_steps_.Add({{"step", std::string(rescheduling::RecoveryStepName(step))}},
                               kRecoveryBuckets);
  }

  std::string Metrics() const {
    std::vector<MetricFamily> families = registry_.Collect();
    size_t left_out = pods_.left_out();
    for (const auto& controller : controllers_) {
      controller->AddMetrics(families);
      left_out += controller->left_out();
    }
    MetricFamily decisions =
        MakeMetricFamily("mindgate_watcher_decisions_total",
                         "Decisions in the log, by what was done.", MetricType::Counter);
    for (const auto& [key, count] : decisions_.counts()) {
      AddSeries(decisions,
                {{"controller", std::string(key.first)}, {"decision", std::string(key.second)}},
                static_cast<double>(count));
    }
    families.push_back(std::move(decisions));
    families.push_back(MakeGauge("mindgate_watcher_objects_left_out",
                                 "Objects that are too large to be read.",
                                 static_cast<double>(left_out)));
    families.push_back(MakeGauge("mindgate_watcher_leading", "1 while this replica leads.",
                                 leadership_.leading() ? 1.0 : 0.0));
    families.push_back(MakeBuildInfo(options_.build));
    return prometheus::TextSerializer().Serialize(families);
  }

  kube::Sleeper& sleeper_;
  log::Logger& logger_;
  const Leadership& leadership_;
  const std::function<std::optional<Term>()> term_ = [this] { return leadership_.term(); };
  const Snapshot<schemas::Config>& config_;
  const Options options_;
  kube::Recorder recorder_;
  DecisionLog decisions_;
  DisruptionBudget budget_;
  DisruptionGate gate_;
  PodInformer pods_;
  prometheus::Registry registry_;
  prometheus::Histogram& latency_;
  prometheus::Histogram& fault_latency_;
  prometheus::Family<prometheus::Histogram>& recovery_steps_;  // by step
  std::vector<std::unique_ptr<Controller>> controllers_;
};

Watcher::Watcher(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper,
                 const Clock& clock, log::Logger& logger, const Leadership& leadership,
                 const Snapshot<schemas::Config>& config, Options options)
    : impl_(std::make_unique<Impl>(client, writer, sleeper, clock, logger, leadership, config,
                                   std::move(options))) {}
Watcher::~Watcher() = default;

void Watcher::Add(const std::function<std::unique_ptr<Controller>(PodInformer& pods)>& make) {
  impl_->Add(make);
}
void Watcher::Run(const std::stop_token& stop) { impl_->Run(stop); }
void Watcher::Refresh() { impl_->Refresh(); }
std::vector<http::Router::Route> Watcher::Routes() const { return impl_->Routes(); }

}  // namespace mindgate::watcher
