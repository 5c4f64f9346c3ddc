// What the webhook serves over TLS, beside the same engine on cpp-httplib's own SSLServer, tuned,
// in the same run. Servers are processes of their own, so that CPU time and memory are theirs
// alone; the client shares the machine with them.
#include <httplib.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "bench/tls_load.h"
#include "certs/authority.h"
#include "certs/pem.h"
#include "manifests.h"
#include "support/places.h"
#include "webhook/admission_review.h"
#include "webhook/decoder_pool.h"
#include "webhook/raw_requests.h"

namespace mindgate::bench {
namespace {

struct Serving {
  std::string certificate;  // PEM
  std::string key;
};

Serving MakeServing() {
  const Time now = SystemClock().WallNow();
  const auto authority = certs::CreateAuthority(now);
  certs::LeafRequest request;
  request.dns_names = {"localhost"};
  request.now = now;
  const auto leaf = certs::IssueLeaf(*authority, request);
  return {certs::WriteCertificate(leaf->certificate.get()), certs::WriteKey(leaf->key.get())};
}

// A folder with the serving pair, as --cert-dir wants it.
class CertFolder {
 public:
  explicit CertFolder(const Serving& serving) {
    path_ = (std::filesystem::temp_directory_path() / "mindgate-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::_Exit(1);
    std::ofstream(path_ + "/tls.crt") << serving.certificate;
    std::ofstream(path_ + "/tls.key") << serving.key;
  }
  ~CertFolder() { std::filesystem::remove_all(path_); }
  CertFolder(const CertFolder&) = delete;
  CertFolder& operator=(const CertFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Of this run, and hardly anybody else's.
constexpr uint16_t kPort = 19443;
constexpr const char* kProbe = "http://127.0.0.1:18081";

bool IsReady() {
  httplib::Client client(kProbe);
  const auto answer = client.Get("/readyz");
  return answer && answer->status == 200;
}

// Becomes the program that is installed.
void ExecMindgate(const CertFolder& folder) {
  ::execl(::mindgate::testing::Program(), ::mindgate::testing::Program(), "webhook", "--cert-dir",
          folder.path().c_str(), "--listen", ("127.0.0.1:" + std::to_string(kPort)).c_str(),
          "--probe-listen", kProbe + 7, "--log-level", "error", nullptr);
  std::_Exit(1);
}

void Tell(int pipe, uint16_t port) {
  if (::write(pipe, &port, sizeof port) != sizeof port) std::_Exit(1);
}

// Serves until it is killed, and writes its port into the pipe.
void ServeStock(const Serving& serving, int pipe) {
  const auto material = *certs::MakeTlsMaterial(serving.certificate, serving.key, "");
  httplib::SSLServer server(material->chain.front().get(), material->key.get());
  // As well as it can be set up: without these it answers 222 requests a second.
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1'000'000'000);
  server.set_keep_alive_timeout(120);
  server.new_task_queue = [] { return new httplib::ThreadPool(320); };
  const schemas::Config config;
  webhook::DecoderPool decoders(webhook::kNotDecoded);
  server.Post("/mutate", [&](const httplib::Request& request, httplib::Response& response) {
    const auto decoder = decoders.Borrow();
    const auto review = webhook::DecodeReview(*decoder, request.body, SystemClock().WallNow());
    const auto verdict =
        admission::Admit(review->request, config, {.judge = false, .apply = false});
    response.set_content(webhook::EncodeAnswer(*review, webhook::Hook::kMutate, verdict, "bench"),
                         "application/json; charset=utf-8");  // so that nothing is compressed
  });
  Tell(pipe, static_cast<uint16_t>(server.bind_to_any_port("127.0.0.1")));
  server.listen_after_bind();
}

// A server in a process of its own.
class Child {
 public:
  // The stock server.
  explicit Child(const Serving& serving) {
    int pipe[2];
    if (::pipe(pipe) != 0) std::_Exit(1);
    pid_ = ::fork();
    if (pid_ == 0) {
      ServeStock(serving, pipe[1]);
      std::_Exit(0);
    }
    if (::read(pipe[0], &port_, sizeof port_) != sizeof port_) std::_Exit(1);
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  // mindgate; back when it is ready.
  explicit Child(const CertFolder& folder) : port_(kPort) {
    pid_ = ::fork();
    if (pid_ == 0) ExecMindgate(folder);
    while (!IsReady()) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        std::fprintf(stderr, "mindgate webhook did not start\n");
        std::_Exit(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  uint16_t port() const { return port_; }

  // Of all its threads, in microseconds.
  double CpuTime() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string word;
    for (int i = 1; i <= 13; ++i) stat >> word;
    double user = 0;
    double system = 0;
    stat >> user >> system;
    return (user + system) * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  double ResidentMib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    }
    return 0;
  }

 private:
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

// A POST as kube-apiserver writes it, of an object so large that the body has `bytes`.
std::string RequestOf(size_t bytes) {
  const auto body = [](size_t object_bytes) {
    const Json review = {
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         {{"uid", "b5f4a6a2-6a1e-4a3e-8a57-0d3f3f1a0c11"},
          {"kind",
           {{"group", "orchestration.aibrix.ai"},
            {"version", "v1alpha1"},
            {"kind", "StormService"}}},
          {"operation", "CREATE"},
          {"namespace", "inference"},
          {"name", "vllm-1p1d"},
          {"userInfo", {{"username", "kubernetes-admin"}, {"groups", {"system:masters"}}}},
          {"object", Json::parse(Padded(StormService, object_bytes))},
          {"oldObject", nullptr},
          {"dryRun", false}}}};
    return review.dump();
  };
  const std::string smallest = body(0);
  const std::string text = smallest.size() >= bytes ? smallest : body(bytes - 500);
  return webhook::testing::Post(text);
}

// Returns microseconds of CPU a review.
double Row(const char* name, const Child& server, const std::string& request, size_t connections,
           std::chrono::milliseconds duration, double against) {
  const double before = server.CpuTime();
  const LoadResult load = Load(server.port(), request, connections, duration);
  const double cpu =
      load.answers == 0 ? 0 : (server.CpuTime() - before) / static_cast<double>(load.answers);
  std::printf("  %-9s %5zu KB %5zu %10.0f %10.0f %10.0f %8.0f", name, request.size() / 1024,
              connections, static_cast<double>(load.answers) / load.seconds, load.p50, load.p99,
              cpu);
  if (against > 0 && cpu > 0) std::printf(" %7.2f", cpu / against);
  if (load.starved > 0) std::printf("   %zu connections got no answer", load.starved);
  std::printf("\n");
  return cpu;
}

void WireTable(const Child& mindgate, const Child& stock, std::chrono::milliseconds duration) {
  std::printf(
      "\nTLS 1.3, ECDSA P-256, keep-alive, loopback; the client takes its share of the cores\n");
  std::printf("  %-9s %8s %5s %10s %10s %10s %8s %7s\n", "server", "body", "conns", "reviews/s",
              "p50 us", "p99 us", "CPU us", "x ours");
  for (const size_t bytes : {5u, 10u, 60u}) {
    const std::string request = RequestOf(bytes * 1024);
    for (const size_t connections : {1u, 8u, 25u, 64u, 256u}) {
      const double ours = Row("mindgate", mindgate, request, connections, duration, 0);
      Row("httplib", stock, request, connections, duration, ours);
    }
  }
}

void Memory(const CertFolder& folder, uint64_t reviews) {
  const Child server(folder);
  const std::string request = RequestOf(10 * 1024);
  std::printf("\nMemory of mindgate, MiB resident\n  idle %28.1f\n", server.ResidentMib());
  (void)Load(server.port(), request, 64, std::chrono::seconds(2));
  std::printf("  64 connections, loaded %10.1f\n", server.ResidentMib());
  for (int part = 1; part <= 4 && reviews > 0; ++part) {
    (void)Load(server.port(), request, 8, std::chrono::milliseconds(0), reviews / 4);
    std::printf("  after %9llu reviews %8.1f\n",
                static_cast<unsigned long long>(reviews / 4 * part), server.ResidentMib());
    std::fflush(stdout);
  }
}

// From exec to the first 200 of /readyz.
void Start(const CertFolder& folder) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Child server(folder);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  std::printf("\nFrom exec to ready: %.0f ms (median of 5)\n", times[2]);
}

}  // namespace
}  // namespace mindgate::bench

// webhook_bench [MILLISECONDS a row [REVIEWS of the memory run]]: 10^6 reviews take minutes.
int main(int argc, char** argv) {
  using namespace mindgate::bench;
  std::signal(SIGPIPE, SIG_IGN);
  const std::chrono::milliseconds duration(argc > 1 ? std::atoi(argv[1]) : 500);
  const uint64_t reviews = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 40'000;
  const Serving serving = MakeServing();
  const CertFolder folder(serving);
  {
    const Child mindgate(folder);
    const Child stock(serving);
    WireTable(mindgate, stock, duration);
  }
  Memory(folder, reviews);
  Start(folder);
  return 0;
}
