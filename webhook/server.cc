#include "webhook/server.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "certs/serving_files.h"
#include "http/front_end.h"
#include "http/request.h"
#include "webhook/metrics.h"
#include "webhook/review_handler.h"

namespace mindgate::webhook {

Executor ExecutorOf(size_t body_bytes, const http::Arrival& arrival, size_t max_inline_bytes) {
  const bool small = body_bytes <= max_inline_bytes && max_inline_bytes > 0;
  const bool turn_is_over = arrival.others_wait && arrival.busy >= kMaxTurn;
  return small && !turn_is_over ? Executor::kLoop : Executor::kPool;
}

WorkPool::WorkPool(size_t threads, size_t capacity, std::function<void(Job)> work)
    : capacity_(capacity), work_(std::move(work)) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.push_back(StartThread("work-" + std::to_string(i), [this] { Loop(); }));
  }
}

WorkPool::~WorkPool() { Stop(); }

bool WorkPool::TryPush(Job job) {
  {
    const MutexLock lock(mutex_);
    if (stopped_ || jobs_.size() >= capacity_) return false;
    jobs_.push_back(std::move(job));
  }
  ready_.NotifyOne();
  return true;
}

void WorkPool::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    jobs_.clear();
  }
  ready_.NotifyAll();
  threads_.clear();
}

size_t WorkPool::waiting() const {
  const MutexLock lock(mutex_);
  return jobs_.size();
}

void WorkPool::Loop() {
  MutexLock lock(mutex_);
  while (true) {
    ready_.Wait(lock, [this]() REQUIRES(mutex_) { return stopped_ || !jobs_.empty(); });
    if (stopped_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.Unlock();
    work_(std::move(job));
    lock.Lock();
  }
}

namespace {

// The newest attempt to load something: "", or what is wrong with it. One line, or with `all` as
// many as it has, set off from those of the next check.
std::string Fault(const ReloadStatus& status, bool all) {
  if (status.error.empty()) return "";
  std::string text = "; refused: ";
  for (const char c : Trim(status.error)) {
    if (c == '\n' && !all) break;
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

}  // namespace

http::Response Readiness(const ServerInputs& inputs, const std::string& hangs, bool draining,
                         bool verbose) {
  const auto config = inputs.config.Get();
  const auto tls = inputs.tls.Get();
  const bool ready = config != nullptr && tls != nullptr && hangs.empty() && !draining;
  std::string text;
  if (verbose || !ready) {
    const auto check = [&text](bool good, std::string_view name, const std::string& detail) {
      text += good ? "[+]" : "[-]";
      text += name;
      text += good ? " ok" : " failed";
      text += (detail.empty() ? "" : ": ") + detail + "\n";
    };
    check(config != nullptr, "configuration",
          (config == nullptr ? "none loaded yet" : "generation " + config->generation) +
              Fault(inputs.config_status(), verbose));
    check(
        tls != nullptr, "certificate",
        (tls == nullptr ? "none loaded yet"
                        : "expires " + FormatTime(certs::ExpiryOf(*tls).serving.value_or(Time()))) +
            Fault(inputs.certificate_status(), verbose));
    // Never a reason to be not ready: without it, decisions rest on what objects say themselves.
    if (const std::string objects = inputs.objects_status(); !objects.empty()) {
      text += "[ ]lookups " + objects + "\n";
    }
    check(hangs.empty(), "decisions", hangs);
    check(!draining, "serving", draining ? "shutting down" : "");
  }
  text += ready ? "ok\n" : "not ready\n";
  return http::PlainText(ready ? 200 : 503, std::move(text));
}

namespace {

// Seconds since 1970 at which the serving certificate expires, 0 without one.
int64_t CertificateExpiry(const certs::TlsMaterial* material) {
  if (material == nullptr) return 0;
  const auto end = certs::ExpiryOf(*material).serving;
  return end ? end->time_since_epoch().count() : 0;
}

// How often Run looks whether a drain is over.
constexpr int kDrainPollMs = 20;
// And, before that, whether a decision hangs.
constexpr int kWatchPollMs = 1000;

enum class DrainPhase { kServing, kAnswering, kRefusing };

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, const ServerInputs& inputs)
      : options_(std::move(options)),
        inputs_(inputs),
        budget_(options_.bytes_in_flight),
        watchdog_(inputs_.clock),
        tls_(inputs_.tls, options_.client_auth) {}

  ~Impl() {
    // Whoever sends answers ends before those who take them.
    if (pool_ != nullptr) pool_->Stop();
    if (admission_ != nullptr) admission_->Stop();
    if (probes_ != nullptr) probes_->Stop();
  }

  Result<void> Start() {
    http::FrontEnd::Options admission;
    admission.name = "admission";
    admission.listen = options_.listen;
    admission.loops = options_.io_threads;
    admission.max_connections = options_.max_connections;
    admission.settings = options_.connections;
    admission.settings.port = http::Port::kPosts;
    admission.tls = &tls_;
    admission.budget = &budget_;
    admission.clock = &inputs_.clock;
    admission.handler = [this](http::Request request, const http::Arrival& arrival,
                               http::Responder responder) {
      return OnReview(std::move(request), arrival, std::move(responder));
    };
    // Everything that a handler touches is there before the first request can come.
    auto admission_listener = http::FrontEnd::Open(std::move(admission));
    if (!admission_listener) return tl::unexpected(std::move(admission_listener).error());
    admission_ = *std::move(admission_listener);
    auto probes = http::ProbePort::Open(ProbeOptions(), ProbeRoutes());
    if (!probes) return tl::unexpected(std::move(probes).error());
    probes_ = *std::move(probes);

    pool_ =
        std::make_unique<WorkPool>(options_.work_threads, options_.queue, [this](const Job& job) {
          job.responder.Send(Decide(job.request, job.arrived, job.deadline));
        });
    metrics_ = std::make_unique<webhook::Metrics>(Sources());
    reviews_ = std::make_unique<ReviewHandler>(options_, inputs_, *metrics_, admission_->stats(),
                                               refusals_, budget_, watchdog_);
    router_ = std::make_unique<http::Router>(
        Routes(), [this](std::string_view what) { reviews_->OnBug(what); },
        [this] { admission_->stats().Add(http::Refusal::kNotFound); });
    probes_->Serve();
    admission_->Serve();
    return {};
  }

  void BeginDrain() {
    if (phase_ != DrainPhase::kServing) return;
    drain_began_ = inputs_.clock.Now();
    phase_ = DrainPhase::kAnswering;
    inputs_.logger.Info("draining", {{"connections", admission_->stats().Open()}});
  }

  bool DrainStep() {
    if (phase_ == DrainPhase::kServing) return false;
    const auto elapsed = inputs_.clock.Now() - drain_began_;
    if (phase_ == DrainPhase::kAnswering) {
      admission_->CloseIdle(options_.min_idle_before_close);
      if (elapsed < options_.drain_delay) return false;
      admission_->StopAccepting();
      phase_ = DrainPhase::kRefusing;
    }
    // Not those of the last moments even now: who has just connected is about to send, and reads an
    // answer of 503 as "elsewhere, please" but an end of the connection as a failure.
    admission_->CloseIdle(options_.min_idle_before_close);
    return admission_->Finished() || elapsed >= options_.drain_time;
  }

  void LogHanging() {
    for (const Watchdog::Overdue& decision : watchdog_.Longer(options_.stuck_after, true)) {
      if (!decision.first) continue;
      inputs_.logger.Error("a decision hangs: the replica is not ready while it does",
                           {{"object", decision.about},
                            {"uid", decision.uid},
                            {"seconds", decision.taken.count() / 1000}});
    }
  }

  // Which decision, else which thread, has been at work for so long; empty if none.
  std::string StuckComponent(std::chrono::milliseconds limit) {
    const auto overdue = watchdog_.Longer(limit);
    if (!overdue.empty()) return "the decision on " + overdue.front().about + " hangs";
    return admission_->BusyFor(inputs_.clock.Now()) >= limit ? "a network thread hangs" : "";
  }
  bool hangs() { return !StuckComponent(options_.stuck_after).empty(); }

  http::FrontEnd& admission() { return *admission_; }
  http::ProbePort& probes() { return *probes_; }
  const RefusalCounts& refusals() const { return refusals_; }
  const webhook::Metrics& metrics() const { return *metrics_; }

 private:
  bool draining() const { return phase_ != DrainPhase::kServing; }

  MetricSources Sources() {
    MetricSources sources;
    sources.ports = {{"admission", &admission_->stats()}, {"probe", &probes_->stats()}};
    sources.refusals = &refusals_;
    sources.budget = &budget_;
    sources.queue_length = [this] { return pool_->waiting(); };
    sources.queue_capacity = options_.queue;
    sources.generation = [this] {
      const auto config = inputs_.config.Get();
      return config == nullptr ? std::string() : config->generation;
    };
    sources.certificate_expiry = [this] { return CertificateExpiry(inputs_.tls.Get().get()); };
    sources.config_reload_failures = [this] { return inputs_.config_status().failures; };
    sources.certificate_reload_failures = [this] { return inputs_.certificate_status().failures; };
    sources.runtimes_left_out = [this] { return inputs_.objects_left_out(); };
    sources.hanging_kinds = [this] {
      std::vector<std::string> kinds;
      for (const auto& decision : watchdog_.Longer(options_.stuck_after)) {
        kinds.push_back(decision.kind);
      }
      return kinds;
    };
    sources.build = options_.build;
    return sources;
  }

  std::vector<http::Router::Route> Routes() {
    std::vector<http::Router::Route> routes;
    for (const Hook hook : {Hook::kMutate, Hook::kValidate, Hook::kProbe}) {
      routes.push_back({std::string(PathOf(hook)), [this, hook](const http::Request& request) {
                          return reviews_->Handle(hook, request);
                        }});
    }
    return routes;
  }

  http::ProbePort::Options ProbeOptions() {
    http::ProbePort::Options probes;
    probes.listen = options_.probe_listen;
    probes.max_connections = options_.max_probe_connections;
    probes.settings = options_.connections;
    probes.clock = &inputs_.clock;
    probes.on_bug = [this](std::string_view what) { reviews_->OnBug(what); };
    probes.closing = [this] { return draining(); };
    return probes;
  }

  std::vector<http::Router::Route> ProbeRoutes() {
    return {{"/livez",
             [this](const http::Request&) {
               const std::string hangs = StuckComponent(options_.dead_after);
               return hangs.empty() ? http::PlainText(200, "ok\n")
                                    : http::PlainText(503, hangs + "\n");
             }},
            {"/readyz",
             [this](const http::Request& request) {
               const bool verbose = http::QueryValue(request.query(), "verbose").has_value();
               return Readiness(inputs_, StuckComponent(options_.stuck_after), draining(), verbose);
             }},
            {"/metrics",
             [this](const http::Request&) { return http::MetricsText(metrics_->Render()); }}};
  }

  // In a loop's thread.
  std::optional<http::Response> OnReview(http::Request request, const http::Arrival& arrival,
                                         http::Responder responder) {
    if (phase_ == DrainPhase::kRefusing) return Refused(Refusal::kDraining);
    auto deadline = arrival.deadline;
    const auto timeout = TimeoutOf(request.query());
    if (timeout.count() > 0) deadline = std::min(deadline, arrival.at + timeout);
    if (ExecutorOf(request.body.size(), arrival, options_.max_inline_bytes) == Executor::kLoop) {
      return Decide(request, arrival.at, deadline);
    }
    if (pool_->TryPush({std::move(request), arrival.at, deadline, std::move(responder)})) {
      return std::nullopt;
    }
    // The connection stays: a handshake more would cost what is short already.
    return Refused(Refusal::kQueueFull);
  }

  // In a loop's thread or one of the pool.
  http::Response Decide(const http::Request& request, Clock::Instant arrived,
                        Clock::Instant deadline) {
    const auto now = inputs_.clock.Now();
    metrics_->Observe(Stage::kQueue, now - arrived);
    if (now + options_.decision_time > deadline) {
      admission_->stats().Add(http::Refusal::kTooLate);
      return InDrain(http::RefusalResponse(http::Refusal::kTooLate));
    }
    return InDrain(router_->Serve(request));
  }

  http::Response Refused(Refusal refusal) {
    refusals_.Add(refusal);
    return InDrain(RefusalResponse(refusal));
  }

  // Every answer of a drain closes its connection.
  http::Response InDrain(http::Response response) const {
    response.close = draining();
    return response;
  }

  const ServerOptions options_;
  const ServerInputs inputs_;
  http::ByteBudget budget_;
  RefusalCounts refusals_;
  Watchdog watchdog_;
  const http::TlsContext tls_;
  std::unique_ptr<http::FrontEnd> admission_;
  std::unique_ptr<http::ProbePort> probes_;
  std::unique_ptr<WorkPool> pool_;
  std::unique_ptr<webhook::Metrics> metrics_;
  std::unique_ptr<ReviewHandler> reviews_;
  std::unique_ptr<http::Router> router_;
  std::atomic<DrainPhase> phase_{DrainPhase::kServing};
  Clock::Instant drain_began_;
};

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, const ServerInputs& inputs) {
  auto impl = std::make_unique<Impl>(std::move(options), inputs);
  if (auto started = impl->Start(); !started) {
    return tl::unexpected(std::move(started).error());
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

uint16_t Server::port() const { return impl_->admission().port(); }
uint16_t Server::probe_port() const { return impl_->probes().port(); }
const http::LayerStats& Server::stats() const { return impl_->admission().stats(); }
const RefusalCounts& Server::refusals() const { return impl_->refusals(); }
std::string Server::Metrics() const { return impl_->metrics().Render(); }
void Server::BeginDrain() { impl_->BeginDrain(); }
bool Server::DrainStep() { return impl_->DrainStep(); }
void Server::LogHanging() { impl_->LogHanging(); }
bool Server::hangs() const { return impl_->hangs(); }
void Server::Wake() {
  impl_->admission().Wake();
  impl_->probes().Wake();
}

Result<int> Run(ServerOptions options, const ServerInputs& inputs, int stop_fd,
                const std::function<void(int)>& exit_now,
                const std::function<void(const Server&)>& started) {
  const auto made = Server::Start(std::move(options), inputs);
  if (!made) return tl::unexpected(made.error());
  Server& server = **made;
  inputs.logger.Info(
      "serving", {{"port", int64_t{server.port()}}, {"probe_port", int64_t{server.probe_port()}}});
  started(server);
  for (bool draining = false;;) {
    pollfd stop{stop_fd, POLLIN, 0};
    const int ready = ::poll(&stop, 1, draining ? kDrainPollMs : kWatchPollMs);
    server.LogHanging();
    if (ready > 0) {
      std::array<char, 128> signal;  // one signalfd_siginfo
      if (::read(stop_fd, signal.data(), signal.size()) < 0 &&
          (errno == EINTR || errno == EAGAIN)) {
        continue;
      }
      if (draining) {
        inputs.logger.Warning("second stop signal, exiting immediately");
        exit_now(1);
        return 1;
      }
      server.BeginDrain();
      draining = true;
    }
    if (draining && server.DrainStep()) break;
  }
  const int64_t left = server.stats().Open();
  inputs.logger.Info("stopped", {{"connections_left", left}});
  if (server.hangs()) {
    inputs.logger.Error("exiting without the thread that hangs");
    exit_now(1);
  }
  return left == 0 ? 0 : 1;
}

}  // namespace mindgate::webhook
