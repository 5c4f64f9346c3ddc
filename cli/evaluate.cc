#include "cli/evaluate.h"

#include <istream>
#include <nlohmann/json.hpp>

#include "admission/known_names.h"
#include "base/text.h"
#include "schemas/config_load.h"

namespace mindgate::cli {
namespace {

using json::Json;
using schemas::Operation;

std::optional<RequestOptions> ReadRequestOptions(const InputOptions& options, std::ostream& err) {
  RequestOptions request;
  request.ns = options.ns;
  request.now = options.now;
  if (!options.operation.empty()) {
    request.operation = schemas::OperationNamed(options.operation);
    if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
      PrintError(err, "--operation " + Quote(options.operation) + " is not known",
                 "write CREATE or UPDATE");
      return std::nullopt;
    }
    if (request.operation == Operation::kCreate && !options.old_file.empty()) {
      PrintError(err, "--old names the state before an update, but --operation is CREATE",
                 "leave out one of them");
      return std::nullopt;
    }
  }
  if (options.namespace_labels.empty()) return request;
  for (std::string_view pair : Split(options.namespace_labels, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      PrintError(err, "--namespace-labels holds " + Quote(pair) + ", which is no label",
                 "write key=value, several with commas between them");
      return std::nullopt;
    }
    request.namespace_labels.insert_or_assign(std::string(pair.substr(0, equals)),
                                              std::string(pair.substr(equals + 1)));
  }
  return request;
}

std::vector<std::unique_ptr<Source>> DecodeAll(std::vector<InputText> inputs) {
  std::vector<std::unique_ptr<Source>> sources;
  for (InputText& input : inputs) sources.push_back(Decode(std::move(input)));
  return sources;
}

// The objects of --old; nothing when there is a fault among them, which is then printed.
std::optional<std::vector<const Json*>> OldObjects(
    const std::vector<std::unique_ptr<Source>>& sources, std::ostream& err) {
  std::vector<const Json*> objects;
  bool fine = true;
  for (const InputObject& object : ObjectsOf(sources)) {
    if (object.fault) {
      const InputText& input = object.source->input;
      err << json::Render(*object.fault, input.name, input.text);
      fine = false;
    } else if (object.object != nullptr) {
      objects.push_back(object.object);
    }
  }
  if (!fine) return std::nullopt;
  return objects;
}

}  // namespace

void PrintError(std::ostream& err, const std::string& what, const std::string& hint) {
  err << "error: " << what << "\n";
  if (!hint.empty()) err << "hint: " << hint << "\n";
}

std::optional<schemas::Config> LoadConfigFile(const std::string& path, std::ostream& err) {
  if (path.empty()) return schemas::Config();
  const auto text = ReadFile(path);
  if (!text) {
    PrintError(err, "configuration " + path + ": " + text.error().message(),
               "`mindgate config defaults > " + path + "` writes one");
    return std::nullopt;
  }
  auto config = schemas::LoadConfig(*text, admission::KnownNames());
  if (!config) {
    err << json::Render(config.error(), path, *text);
    return std::nullopt;
  }
  return *std::move(config);
}

std::optional<Evaluation> Evaluate(const InputOptions& options,
                                   const admission::Options& admission_options, Streams& io) {
  if (options.files.empty()) {
    PrintError(io.err, "nothing to look at", "name files, folders or - with -f");
    return std::nullopt;
  }
  const auto request = ReadRequestOptions(options, io.err);
  if (!request) return std::nullopt;
  const auto config = LoadConfigFile(options.config_file, io.err);
  if (!config) return std::nullopt;

  Evaluation evaluation;
  if (!options.old_file.empty()) {
    evaluation.old_sources = DecodeAll(ReadInputs({options.old_file}, io.in));
  }
  const auto old_objects = OldObjects(evaluation.old_sources, io.err);
  if (!old_objects) return std::nullopt;
  evaluation.sources = DecodeAll(ReadInputs(options.files, io.in));
  const auto inputs = ObjectsOf(evaluation.sources);
  if (inputs.empty()) {
    PrintError(io.err, "no objects in " + Join(options.files, ", "),
               "the input is empty or holds only comments");
    return std::nullopt;
  }
  const Decider decider(inputs, *old_objects, *request, *config, admission_options);
  for (const InputObject& input : inputs) evaluation.decisions.push_back(decider.Decide(input));
  return evaluation;
}

}  // namespace mindgate::cli
