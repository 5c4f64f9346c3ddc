#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/files.h"
#include "base/result.h"
#include "base/version.h"
#include "certs/authority.h"
#include "certs/certificate.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/servers/policy_follower.h"
#include "cli/servers/servers.h"
#include "webhook/live_inputs.h"
#include "webhook/namespace_lookup.h"
#include "webhook/server.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;

// A Pod that requests one NPU: enough for two mutators.
constexpr const char* kReview = R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
 "request": {
  "uid": "6f3c1a52-8f0e-4a57-9a53-2c6a1d5f7e10", "operation": "CREATE",
  "kind": {"group": "", "version": "v1", "kind": "Pod"},
  "resource": {"group": "", "version": "v1", "resource": "pods"},
  "namespace": "default", "name": "infer", "userInfo": {"username": "you"},
  "object": {"apiVersion": "v1", "kind": "Pod",
   "metadata": {"name": "infer", "namespace": "default"},
   "spec": {"containers": [{"name": "server", "image": "infer:1",
    "resources": {"limits": {"huawei.com/Ascend910": "1"}, "requests": {"huawei.com/Ascend910": "1"}}}]}}}}
)";

Result<std::vector<FileToWrite>> NewFiles(Time now) {
  certs::RotationPolicy policy;
  policy.dns_names = {"localhost"};
  policy.ip_addresses = {"127.0.0.1", "::1"};
  policy.serving_life = std::chrono::days(7);
  policy.authority_life = std::chrono::days(7);
  certs::State nothing;
  const auto state =
      certs::Carry(std::move(nothing), certs::MakePlan(certs::State(), policy, now), policy, now);
  if (!state) return tl::unexpected(state.error());
  std::vector<FileToWrite> files = {{"review.json", kReview, 0644}};
  for (const auto& [name, text] : certs::WriteState(*state)) {
    // The CA never signs again.
    if (name != certs::kAuthorityKeyFile) files.push_back({name, text, 0600});
  }
  return files;
}

}  // namespace

Result<DevFolder> DevFolder::Make(Time now) {
  const auto files = NewFiles(now);
  if (!files) return tl::unexpected(files.error());
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "mindgate-dev-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Fail(ErrorCode::kInternal, "cannot create a temporary folder (TMPDIR): " +
                                          (error ? error.message() : SystemReason(errno)));
  }
  std::string authority;
  for (const FileToWrite& file : *files) {
    if (file.name == certs::kAuthorityFile) authority = file.text;
  }
  DevFolder folder(std::move(path), std::move(authority));
  if (auto written = WriteFiles(folder.path(), *files); !written) {
    return tl::unexpected(std::move(written).error());
  }
  return folder;
}

DevFolder::DevFolder(std::string path, std::string authority)
    : path_(std::move(path)), authority_(std::move(authority)) {}

DevFolder::DevFolder(DevFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), authority_(std::move(other.authority_)) {}

DevFolder& DevFolder::operator=(DevFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(authority_, other.authority_);
  return *this;
}

DevFolder::~DevFolder() { Remove(); }

void DevFolder::Remove() const {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void DevFolder::Explain(uint16_t port, uint16_t probe_port, Streams& io) const {
  const std::string url = "https://127.0.0.1:" + std::to_string(port);
  io.out << "mindgate webhook: " << url << ", with a generated certificate. Send it a review:\n\n"
         << "  curl --cacert " << path_ << "/ca.crt -H 'Content-Type: application/json' \\\n"
         << "    --data-binary @" << path_ << "/review.json " << url << "/mutate\n\n"
         << "  curl 'http://127.0.0.1:" << probe_port
         << "/readyz?verbose'     and /livez, /metrics\n\n"
         << "For a MutatingWebhookConfiguration of an API server on this machine:\n\n"
         << "  clientConfig:\n"
         << "    url: " << url << "/mutate\n"
         << "    caBundle: " << certs::EncodeBase64(authority_) << "\n\n"
         << "Press Ctrl-C to stop.\n"
         << std::flush;
}

namespace {

// File descriptors besides connections: listeners, watches, epoll sets, logs.
constexpr rlim_t kOtherDescriptors = 128;

// What is wrong with the options; nothing if they go together.
std::optional<Problem> ProblemOf(const WebhookOptions& options) {
  if (options.cert_dir.empty() && !options.dev) {
    return Problem{
        "--cert-dir is required: the API server calls webhooks over HTTPS only",
        "give the folder with tls.crt and tls.key (`mindgate certs create` creates one), or "
        "use --dev to try mindgate on this machine"};
  }
  if (options.client_ca.empty() && (options.client_optional || !options.client_names.empty())) {
    return Problem{"--client-name and --client-optional require --client-ca",
                   "give the file with the CA that signs the API server's client certificate"};
  }
  if (options.drain_seconds < options.drain_delay_seconds) {
    return Problem{"--drain-time is shorter than --drain-delay", "--drain-time includes the delay"};
  }
  return std::nullopt;
}

webhook::ServerOptions ServerOptionsOf(const WebhookOptions& options) {
  webhook::ServerOptions server;
  server.build = ThisBuild();
  server.listen = options.listen;
  server.probe_listen = options.probe_listen;
  server.io_threads = options.io_threads;
  if (options.work_threads != 0) server.work_threads = options.work_threads;
  server.queue = options.queue;
  server.max_connections = options.max_connections;
  server.drain_delay = std::chrono::seconds(options.drain_delay_seconds);
  server.min_idle_before_close =
      std::max<std::chrono::milliseconds>(server.min_idle_before_close, server.drain_delay);
  server.drain_time = std::chrono::seconds(options.drain_seconds);
  if (!options.client_ca.empty()) {
    server.client_auth.mode = options.client_optional ? http::ClientAuth::Mode::kOptional
                                                      : http::ClientAuth::Mode::kRequired;
    server.client_auth.names = {options.client_names.begin(), options.client_names.end()};
  }
  return server;
}

// Raises the limit of open files as far as allowed. Returns the possible number of connections.
size_t AllowConnections(size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + kOtherDescriptors;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur <= kOtherDescriptors
             ? 1
             : std::min<size_t>(wanted, limit.rlim_cur - kOtherDescriptors);
}

// Objects that decisions look up in the cluster. Without an API server the webhook still
// serves: decisions are then based on the objects alone.
class Lookups {
 public:
  Lookups(const WebhookOptions& options, const Clock& clock, log::Logger& logger) {
    if (!options.lookup_runtimes && !options.lookup_namespaces) return;
    auto access = kube::FindAccess(options.cluster, clock);
    if (!access) {
      fault_ = access.error().message;
      logger.Error("nothing is looked up: no API server is configured", {{"fault", fault_}});
      return;
    }
    connection_.emplace(*std::move(access), kube::ClientOptions(), LogWarnings(logger));
    kube::Client& client = connection_->client();
    kube::Sleeper& sleeper = connection_->sleeper();
    if (options.lookup_runtimes) runtimes_.emplace(client, sleeper, clock, logger);
    if (options.lookup_namespaces) namespaces_.emplace(client, sleeper, clock, logger);
  }

  void Feed(webhook::ServerInputs& inputs) const {
    inputs.objects_status = [this] { return Status(); };
    if (runtimes_) {
      inputs.objects = [this] { return runtimes_->Get(); };
      inputs.objects_left_out = [this] { return runtimes_->left_out(); };
    }
    if (namespaces_) {
      inputs.namespace_labels = [this](std::string_view ns) { return namespaces_->LabelsOf(ns); };
    }
  }

 private:
  std::string Status() const {
    std::string text = fault_;
    if (runtimes_) text = runtimes_->Status();
    if (namespaces_) text += (text.empty() ? "" : ", ") + namespaces_->Status();
    return text;
  }

  std::string fault_;
  std::optional<Connection> connection_;
  std::optional<webhook::RuntimeLookup> runtimes_;
  std::optional<webhook::NamespaceLookup> namespaces_;
};

}  // namespace

int RunWebhook(const WebhookOptions& options, Streams& io) {
  if (const auto problem = ProblemOf(options)) {
    PrintError(io.err, *problem);
    return kExitUnusable;
  }
  const FileDescriptor stop = CatchStopSignals();
  const SystemClock clock;
  log::Logger logger(FormatOf(options.log), LevelOf(options.log), clock);

  std::optional<DevFolder> dev;
  if (options.dev) {
    auto made = DevFolder::Make(clock.WallNow());
    if (!made) {
      PrintError(io.err, made.error().message());
      return kExitUnusable;
    }
    dev = *std::move(made);
  }
  PolicyFollower policies(options.cluster, clock, logger);
  webhook::LiveFiles files;
  files.config_file = options.config_file;
  files.config_maps = &policies;
  files.tls = {dev ? dev->path() : options.cert_dir, options.client_ca, options.server_names};
  DirectoryWatch::Options watch;
  watch.others = policies.changes();
  const webhook::LiveInputs live(files, clock, logger, watch);
  webhook::ServerInputs inputs{live.config(),
                               live.tls(),
                               clock,
                               logger,
                               [&live] { return live.config_status(); },
                               [&live] { return live.certificate_status(); }};
  const Lookups lookups(options, clock, logger);
  lookups.Feed(inputs);

  webhook::ServerOptions server = ServerOptionsOf(options);
  server.max_connections = AllowConnections(server.max_connections);
  if (server.max_connections < options.max_connections) {
    logger.Warning("--max-connections is lowered: the limit of open files is too low",
                   {{"connections", static_cast<int64_t>(server.max_connections)},
                    {"asked", int64_t{options.max_connections}}});
  }
  const auto code = webhook::Run(
      std::move(server), inputs, stop.get(),
      [&](int exit_code) {
        if (dev) dev->Remove();  // do not leave its key behind
        ::_exit(exit_code);
      },
      [&](const webhook::Server& started) {
        if (dev) dev->Explain(started.port(), started.probe_port(), io);
      });
  if (!code) {
    PrintError(io.err, code.error().message());
    return kExitUnusable;
  }
  return *code == 0 ? kExitDone : kExitDenied;
}

void AddWebhook(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WebhookOptions>();
  CLI::App* command = parent.add_subcommand("webhook", "Run the admission webhook server");
  AddFlag(*command, "--listen", options->listen, "Address to serve admission reviews on, with TLS",
          "LISTEN", "ADDRESS");
  AddFlag(*command, "--probe-listen", options->probe_listen,
          "Address to serve /livez, /readyz and /metrics on, without TLS", "PROBE_LISTEN",
          "ADDRESS");
  CLI::Option* cert_dir =
      AddFlag(*command, "--cert-dir", options->cert_dir,
              "Folder with tls.crt and tls.key; reloaded when they change", "CERT_DIR", "DIR");
  AddFlag(*command, "--server-name", options->server_names,
          "Name that the serving certificate must cover; a certificate without it is rejected. May "
          "be repeated",
          "SERVER_NAME", "NAME")
      ->delimiter(',');
  AddFlag(*command, "--client-ca", options->client_ca,
          "CA of client certificates. If set, clients must present a certificate. Reloaded when it "
          "changes",
          "CLIENT_CA", "FILE");
  command
      ->add_flag("--client-optional", options->client_optional,
                 "Accept clients without a certificate, but reject an invalid one")
      ->envname("MINDGATE_CLIENT_OPTIONAL");
  AddFlag(*command, "--client-name", options->client_names,
          "Allowed common name or DNS name of client certificates (default: any); may be repeated",
          "CLIENT_NAME", "NAME")
      ->delimiter(',');
  AddFlag(*command, "--config", options->config_file,
          "Path to the configuration file; reloaded when it changes", "CONFIG", "FILE");
  command
      ->add_flag("--lookup-runtimes", options->lookup_runtimes,
                 "Watch ServingRuntimes and ClusterServingRuntimes, so that decisions on an "
                 "InferenceService include the requests of its runtime")
      ->envname("MINDGATE_LOOKUP_RUNTIMES");
  command
      ->add_flag(
          "--lookup-namespaces", options->lookup_namespaces,
          "Watch Namespaces, so that policies of your own can select them by labels; without "
          "it, those that do are skipped")
      ->envname("MINDGATE_LOOKUP_NAMESPACES");
  AddClusterFlags(*command, options->cluster);
  AddLogFlags(*command, options->log);
  AddFlag(*command, "--io-threads", options->io_threads, "Number of threads for network I/O",
          "IO_THREADS", "N")
      ->check(CLI::Range(1, 64));
  AddFlag(*command, "--work-threads", options->work_threads,
          "Number of threads for admission; 0 means one per core, at least 2 and at most 4",
          "WORK_THREADS", "N")
      ->check(CLI::Range(0, 256));
  AddFlag(*command, "--max-connections", options->max_connections,
          "Maximum number of connections; more are closed immediately", "MAX_CONNECTIONS", "N")
      ->check(CLI::Range(1, 1'000'000));
  AddFlag(*command, "--queue", options->queue,
          "Maximum number of queued reviews; more are rejected with 503 and Retry-After", "QUEUE",
          "N")
      ->check(CLI::Range(1, 1'000'000));
  AddFlag(*command, "--drain-delay", options->drain_delay_seconds,
          "How long to keep serving after SIGTERM, until endpoints are updated on all nodes",
          "DRAIN_DELAY", "SECONDS");
  AddFlag(*command, "--drain-time", options->drain_seconds,
          "Maximum time between SIGTERM and exit, including the delay", "DRAIN_TIME", "SECONDS");
  AddSwitch(*command, "--dev", options->dev,
            "Try mindgate on this machine: generates a certificate, listens on loopback by "
            "default, logs as text and prints example commands",
            "WEBHOOK_DEV")
      ->excludes(cert_dir);
  command->footer(
      R"(Every flag has an environment variable, for example MINDGATE_CERT_DIR for --cert-dir.
On SIGTERM the server drains: it is no longer ready, answers remaining requests, and exits when all
connections are closed.
Exit codes: 0 drained, 1 stopped with open connections, 2 cannot start.
Examples:
  mindgate webhook --dev
  mindgate webhook --cert-dir /etc/mindgate/certs --config /etc/mindgate/config/mindgate.yaml
  mindgate webhook --cert-dir certs --client-ca ca.crt --client-name kube-apiserver)");
  command->callback([command, options, &io, &exit_code] {
    if (options->dev) {
      if (command->count("--listen") == 0) options->listen = "127.0.0.1:9443";
      if (command->count("--probe-listen") == 0) options->probe_listen = "127.0.0.1:8080";
      if (command->count("--log-format") == 0) options->log.format = "text";
      if (command->count("--drain-delay") == 0) options->drain_delay_seconds = 0;
    }
    exit_code = RunWebhook(*options, io);
  });
}

}  // namespace mindgate::cli
