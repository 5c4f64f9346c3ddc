#include "deploy/config.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/config_types.h"
#include "deploy/render.h"
#include "deploy/syntax.h"
#include "json/yaml.h"

namespace mindgate::deploy {
namespace {

using json::Json;

const Type<Application>& TableOf(Framework framework) {
  switch (framework) {
    case Framework::kAibrix:
      return AibrixTable();
    case Framework::kMindie:
      return MindieTable();
    default:
      return OmeTable();
  }
}

std::vector<std::string_view> FrameworkNames() {
  std::vector<std::string_view> names;
  for (const Framework each : kFrameworks) names.push_back(FrameworkName(each));
  return names;
}

// The framework of a document. Reports a block of another one.
std::optional<Framework> FrameworkOf(const Json& document, std::string_view fallback,
                                     schemas::Reading& reading) {
  std::optional<Framework> written;  // by its block
  for (const Framework each : kFrameworks) {
    if (!written && document.contains(BlockOf(each))) written = each;
  }
  const auto word = json::FindString(document, "framework");
  std::string source = "framework: " + std::string(word.value_or(""));
  std::optional<Framework> chosen = word ? FrameworkNamed(*word) : std::nullopt;
  if (!word && !fallback.empty()) {
    source = "SERVING_FRAMEWORK=" + std::string(fallback);
    chosen = FrameworkNamed(fallback);
    if (!chosen) {
      reading.Fault("", "the variable SERVING_FRAMEWORK is " + Quote(fallback),
                    "set it to " + OneOf(FrameworkNames()) + ", or write framework: in the file");
      return std::nullopt;
    }
  }
  if (!chosen) return written.value_or(Framework::kOme);
  if (written && written != chosen && !document.contains(BlockOf(*chosen))) {
    const std::string other(FrameworkName(*written));
    reading.Fault(
        "/" + std::string(BlockOf(*written)),
        Quote(BlockOf(*written)) + " is for framework " + other + ", but the framework is " +
            std::string(FrameworkName(*chosen)) + " (" + source + ")",
        word ? "write framework: " + other
             : "write framework: " + other + " in the file, which wins over the variable");
    return std::nullopt;
  }
  return chosen;
}

void CheckDerivedNames(const Application& application, schemas::Reading& reading) {
  if (!IsDns1035Label(application.name)) return;  // reported already
  const DerivedName* longest = nullptr;
  const auto names = DerivedNames(application);
  for (const DerivedName& each : names) {
    if (longest == nullptr || each.name.size() > longest->name.size()) longest = &each;
  }
  if (longest == nullptr || longest->name.size() <= kMaxLabel) return;
  const size_t surplus = longest->name.size() - kMaxLabel;
  const std::string most = std::to_string(kMaxLabel);
  const std::string fix =
      application.name.size() > surplus
          ? "write at most " + std::to_string(application.name.size() - surplus) + " characters"
          : "write a shorter name";
  reading.Fault("/app_name",
                "the name of the " + longest->what + " " + Quote(longest->name) + " has " +
                    std::to_string(longest->name.size()) +
                    " characters; Kubernetes takes at most " + most,
                fix);
}

// What is only found out when the objects are there; several objects may have one fault.
void CheckRendered(const Application& application, schemas::Reading& reading) {
  std::set<std::pair<std::string, std::string>> told;
  for (const RenderedObject& rendered : Render(application)) {
    for (const RenderFault& fault : rendered.faults) {
      if (!told.emplace(fault.written, fault.message).second) continue;
      reading.Fault(fault.written, fault.message, fault.hint);
    }
  }
}

}  // namespace

tl::expected<Configuration, json::Issues> ReadConfiguration(Json document,
                                                            json::Positions positions,
                                                            std::string_view fallback) {
  Configuration configuration;
  configuration.document = std::move(document);
  configuration.positions = std::move(positions);
  const Json& root = configuration.document;
  schemas::Reading reading(root, configuration.positions);
  if (!root.is_object()) {
    reading.Fault("", "a configuration is an object, not " + WithArticle(json::TypeName(root)),
                  "`mindgate deploy --init ome` writes one to start from");
    return tl::unexpected(reading.Faults());
  }
  const auto framework = FrameworkOf(root, fallback, reading);
  if (!framework) return tl::unexpected(reading.Faults());
  Application& application = configuration.application;
  schemas::ReadDocument(TableOf(*framework), root, reading, application);
  if (reading.fault_count() == 0) CheckDerivedNames(application, reading);
  if (reading.fault_count() == 0) CheckRendered(application, reading);
  if (reading.fault_count() > 0) return tl::unexpected(reading.Faults());
  configuration.warnings = reading.Warnings();
  return configuration;
}

tl::expected<Configuration, json::Issues> ReadConfiguration(std::string_view text,
                                                            std::string_view fallback) {
  auto documents = json::DecodeCoreYaml(text);
  if (!documents) return tl::unexpected(json::Issues(std::move(documents.error())));
  if (documents->empty()) {
    return tl::unexpected(json::Issues(
        {{}, "", "the file is empty", "`mindgate deploy --init ome` writes one to start from"}));
  }
  if (documents->size() > 1) {
    return tl::unexpected(json::Issues({{(*documents)[1].line, 1},
                                        "",
                                        "a configuration holds one application",
                                        "write the second one into a file of its own"}));
  }
  json::YamlDocument& document = documents->front();
  return ReadConfiguration(std::move(document.value), std::move(document.positions), fallback);
}

schemas::OrderedJson ConfigurationSchema(Framework framework) {
  return schemas::DocumentSchema(
      "mindgate deploy configuration (" + std::string(FrameworkName(framework)) + ")",
      "One application with separate prefill and decode instances.", TableOf(framework).Schema());
}

}  // namespace mindgate::deploy
