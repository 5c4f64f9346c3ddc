#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "kube/reflector.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kTrustCheck = "trusted-namespaces";

// The list of strings at the next "[", and moves `text` behind it; nothing when there is none.
std::optional<std::set<std::string>> TakeList(std::string_view& text) {
  const size_t begin = text.find('[');
  const size_t end = text.find(']', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  const Json list = Json::parse(text.substr(begin, end - begin + 1), nullptr, false);
  text.remove_prefix(end + 1);
  if (!list.is_array()) return std::nullopt;
  std::set<std::string> strings;
  for (const Json& each : list) strings.emplace(json::AsString(&each).value_or(""));
  return strings;
}

// The namespaces that a namespaceSelector excludes by their names.
std::set<std::string> ExcludedBy(const Json& selector) {
  std::set<std::string> names;
  const Json* expressions = json::Find(selector, "matchExpressions");
  for (const Json& each : json::IsArray(expressions) ? *expressions : Json::array()) {
    if (json::TextAt(each, {"key"}) != "kubernetes.io/metadata.name" ||
        json::TextAt(each, {"operator"}) != "NotIn") {
      continue;
    }
    const Json* values = json::Find(each, "values");
    for (const Json& value : json::IsArray(values) ? *values : Json::array()) {
      names.emplace(json::AsString(&value).value_or(""));
    }
  }
  return names;
}

// Namespaces that are trusted by their names.
struct Listed {
  std::set<std::string> namespaces;
  std::string consequence;  // of creating one
  std::string fix;
};

std::vector<Listed> NamespacesOf(const Context& context) {
  std::set<std::string> excluded;
  for (const Hook& hook : context.hooks) excluded.merge(ExcludedBy(hook.namespace_selector));
  const auto trusted = WhoIsTrusted(context);
  return {{trusted ? trusted->namespaces : std::set<std::string>(),
           "what its ServiceAccounts make with an owner reference is not sent to the webhook",
           "take them out of controllers.namespaces of the chart"},
          {std::move(excluded), "its objects are not sent to the webhook",
           "take them out of excludedNamespaces of the chart"},
          {context.fault_namespaces,
           "its ConfigMaps can report faults, and have the pods of others deleted",
           "create mindx-dl, where MindCluster reports faults; take others out of "
           "config.rescheduling.publicFaults.namespaces of the chart"}};
}

}  // namespace

std::optional<Trusted> WhoIsTrusted(const Context& context) {
  constexpr std::string_view kBefore = "request.userInfo.username in ";
  for (const Hook& hook : context.hooks) {
    const size_t at = hook.source_condition.find(kBefore);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(hook.source_condition).substr(at + kBefore.size());
    auto users = TakeList(rest);
    auto namespaces = TakeList(rest);
    if (users && namespaces) return Trusted{*std::move(users), *std::move(namespaces)};
  }
  return std::nullopt;
}

// Namespaces that are listed and do not exist. Whoever may create namespaces can create them.
void CheckTrustedNamespaces(Context& context) {
  if (context.hooks.empty()) return;
  const json::Projection fields = kube::WithIdentity({});
  const auto namespaces =
      context.client.ListObjects(kube::resources::kNamespaces, "", {}, &fields, context.stop);
  if (!namespaces) return SkipFor(context, kTrustCheck, "namespaces", namespaces.error());
  std::set<std::string> existing;
  for (const Json& ns : *namespaces) existing.insert(json::TextAt(ns, {"metadata", "name"}));
  bool good = true;
  for (const Listed& listed : NamespacesOf(context)) {
    std::vector<std::string> missing;
    for (const std::string& ns : listed.namespaces) {
      if (!existing.contains(ns)) missing.push_back(ns);
    }
    if (missing.empty()) continue;
    good = false;
    context.report.Warn(
        kTrustCheck,
        "these namespaces are trusted by their names and do not exist: " + Join(missing, ", ") +
            ". Whoever may create namespaces can create one, and then " + listed.consequence,
        listed.fix + ", or create them so that nobody else can");
  }
  if (good) {
    context.report.Ok(kTrustCheck, "every namespace that is trusted by its name exists");
  }
}

}  // namespace mindgate::doctor
