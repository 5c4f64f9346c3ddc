#include "base/text.h"
#include "json/limits.h"
#include "kube/environment.h"
#include "kube/subprocess.h"
#include "offline/inputs.h"

namespace mindgate::offline {
namespace {

// Includes the time to clone remote bases.
constexpr std::chrono::minutes kMaxBuildTime(5);
constexpr size_t kMaxErrorOutput = 4096;

Result<kube::Ended> Built(const std::string& command, const std::string& verb,
                          const std::string& folder) {
  kube::Program program;
  program.command = command;
  program.arguments = {verb, folder};
  program.environment = kube::WholeEnvironment();
  program.output_limit = json::kLargestFile;
  program.error_limit = kMaxErrorOutput;
  program.deadline = kMaxBuildTime;
  return kube::RunProgram(program);
}

}  // namespace

InputText BuildKustomization(const std::string& folder) {
  std::string command = "kustomize build";
  auto ended = Built("kustomize", "build", folder);
  if (!ended && ended.error().code() == ErrorCode::kNotFound) {
    command = "kubectl kustomize";
    ended = Built("kubectl", "kustomize", folder);
  }
  InputText text;
  text.name = folder + " (" + command + ")";
  if (!ended && ended.error().code() == ErrorCode::kNotFound) {
    text.name = folder;
    text.fault =
        "cannot be built: neither kustomize nor kubectl is in PATH; install one of them, or pipe "
        "in output built elsewhere: kustomize build " +
        folder + " | mindgate apply -f -";
  } else if (!ended) {
    text.fault = ended.error().message();
  } else if (ended->exit_code != 0 || ended->signal != 0) {
    text.fault = "failed: " + std::string(Trim(ended->error));
  } else {
    text.text = std::move(ended->output);
  }
  return text;
}

}  // namespace mindgate::offline
