#include "cli/servers/webhook_dev.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <utility>

#include "base/files.h"
#include "certs/pem.h"
#include "certs/rotate.h"

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

}  // namespace mindgate::cli
