#include "simulation/replica.h"

#include <algorithm>
#include <utility>

namespace mindgate::simulation {

using watcher::scaling::ServiceKey;

Replica::Replica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options)
    : clock_(clock),
      options_(options),
      failing_(clock),
      client_(server, sleeper_, watcher::LeaderClient::kOptions),
      logger_(log::Format::kText, log::Level::kError, clock, [](std::string_view) {}),
      gate_(client_, clock, budget_, {}),
      reconciler_(client_, clock, logger_, *this, gate_,
                  [this]() -> schemas::ElasticScaling {
                    schemas::ElasticScaling settings =
                        static_cast<const schemas::ElasticScaling&>(options_);
                    settings.mode = schemas::EnforcementMode::kEnforce;
                    return settings;
                  }),
      loop_(clock, LoopOptions()),
      told_(clock) {
  server.Fail([this](const kube::HttpCall& call) { return failing_.Of(call); });
}

watcher::ReconcileLoop<ServiceKey>::Options Replica::LoopOptions() {
  return {.name = "scaling",
          .term = [this]() -> std::optional<watcher::Term> {
            if (!leads()) return std::nullopt;
            return watcher::Term(leads_from_, [this] { return leads(); }, {});
          },
          .reconcile =
              [this](const ServiceKey& key, const watcher::Term& term) {
                return reconciler_.Reconcile(key, {index_.Look(key), unusable_}, term);
              },
          .forget = [this](const ServiceKey& key) { reconciler_.Forget(key); }};
}

// --- what it is told ---

void Replica::Later(std::chrono::seconds delay, std::function<void()> tell) {
  told_.Push(options_.watch_delay + delay, std::move(tell));
}

void Replica::Enqueue(const std::vector<ServiceKey>& services) {
  for (const ServiceKey& service : services) loop_.Enqueue(service);
}

void Replica::EnqueueAll() { Enqueue(index_.services()); }

void Replica::PodChanged(const ApiServer::PodName& name, watcher::scaling::PodPtr after,
                         std::chrono::seconds delay) {
  Later(delay, [this, name, after = std::move(after)] {
    watcher::scaling::PodPtr& seen = seen_[name];
    Enqueue(index_.Changed(seen, after));
    seen = after;
    if (after == nullptr) seen_.erase(name);
  });
}

void Replica::RuleChanged(const RuleKey& rule,
                          std::shared_ptr<const watcher::scaling::RuleState> state) {
  Later({}, [this, rule, state = std::move(state)] {
    Enqueue(index_.RuleChanged(rule.ns, rule.name, state));
  });
}

void Replica::NodesChanged(watcher::scaling::NodeNames unusable) {
  Later({}, [this, unusable = std::move(unusable)] {
    if (std::exchange(unusable_, unusable) != unusable) EnqueueAll();
  });
}

void Replica::LoseLeader(Time until) {
  leads_from_ = std::max(leads_from_, until);
  led_ = false;
  // Another replica has its own memory.
  for (const ServiceKey& service : index_.services()) reconciler_.Forget(service);
}

void Replica::FailCalls(const simulation::FailCalls& calls, Time until) {
  failing_.Add(calls, until);
}

// --- what it does ---

bool Replica::Deliver() {
  bool any = told_.Deliver();
  if (!led_ && leads()) {
    led_ = true;
    EnqueueAll();
    any = true;
  }
  return any;
}

bool Replica::Reconcile() {
  bool any = false;
  while (loop_.RunOne()) any = true;
  return any;
}

std::optional<Time> Replica::next_due() const {
  std::optional<Time> next;
  const auto consider = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (const auto due = told_.next_due()) consider(*due);
  if (!led_) consider(leads_from_);
  if (const auto due = loop_.next_due()) {
    consider(Time(std::chrono::ceil<std::chrono::seconds>(due->time_since_epoch())));
  }
  return next;
}

}  // namespace mindgate::simulation
