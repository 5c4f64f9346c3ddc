#include <optional>
#include <utility>

#include "base/text.h"
#include "kube/config_material.h"
#include "kube/credential_files.h"
#include "kube/kubeconfig.h"
#include "kube/server_url.h"

namespace mindgate::kube {
namespace {

constexpr size_t kMaxNames = 5;  // maximum in a message

std::string NamesOf(const Kubeconfig::Entries& entries) {
  std::vector<std::string> names;
  for (const auto& [name, node] : entries) {
    names.push_back(names.size() == kMaxNames ? "..." : Quote(name));
    if (names.size() > kMaxNames) break;
  }
  return Join(names, ", ");
}

class AccessBuilder {
 public:
  AccessBuilder(const Kubeconfig& config, const AccessFlags& flags, const Clock& clock)
      : config_(config), flags_(flags), clock_(clock) {}

  Answer<Access> Choose() {
    const auto context = ChooseContext();
    ChooseNamespace(context);
    const auto cluster = ChooseEntry(config_.clusters, flags_.cluster, "cluster", context);
    const auto user = ChooseEntry(config_.users, flags_.user, "user", context);
    ReadServer(context, cluster);
    if (cluster) ReadCluster(*cluster);
    ApplyTrust(flags_, access_, complaints_);
    const bool shows = user || !flags_.token.empty() || !flags_.client_certificate.empty() ||
                       !flags_.client_key.empty();
    if (shows && !access_.server.starts_with("http://")) {
      access_.credentials = ReadUser(user, flags_, access_, cluster, clock_, complaints_);
    } else {
      // As in client-go (ClientConfig), credentials are never sent without TLS.
      access_.credentials = MakeCredentialSource({}, clock_);
      if (shows) access_.origin += " (no credentials are sent without TLS)";
    }
    if (user) access_.impersonation = ReadImpersonation(*user, flags_, complaints_);
    ApplyFlags(flags_, access_, complaints_);
    if (!complaints_.empty()) return tl::unexpected(complaints_.AsFault());
    return std::move(access_);
  }

 private:
  using Entry = std::optional<ConfigNode>;

  Entry ChooseContext() {
    if (!flags_.context.empty()) return UseContext(flags_.context, "--context");
    if (!config_.current_context.empty()) {
      return UseContext(config_.current_context, config_.current_context_place);
    }
    access_.origin = config_.files.empty() ? "--server" : config_.Names();
    if (!flags_.cluster.empty() || !flags_.server.empty()) return std::nullopt;
    complaints_.Add(config_.Names(), "current-context is not set",
                    config_.contexts.empty()
                        ? "it defines no contexts either, so the kubeconfig is incomplete"
                        : "choose one of " + NamesOf(config_.contexts) + " with --context");
    return std::nullopt;
  }

  Entry UseContext(const std::string& name, const std::string& place) {
    auto context = FindEntry(config_.contexts, name, "context", place);
    access_.origin =
        "context " + name + " of " + (context ? context->file().path : config_.Names());
    return context;
  }

  // The entry, or a complaint that lists the existing ones.
  Entry FindEntry(const Kubeconfig::Entries& entries, const std::string& name,
                  const std::string& what, const std::string& place) {
    const auto found = entries.find(name);
    if (found != entries.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [other, node] : entries) known.push_back(other);
    const auto near = NearestOf(name, known);
    complaints_.Add(place, "there is no " + what + " " + Quote(name),
                    near              ? "did you mean " + Quote(*near) + "?"
                    : entries.empty() ? "none is defined"
                                      : "defined: " + NamesOf(entries));
    return std::nullopt;
  }

  // The cluster or user named by a flag, else by the context. May be absent.
  Entry ChooseEntry(const Kubeconfig::Entries& entries, const std::string& flag,
                    const std::string& what, const Entry& context) {
    if (!flag.empty()) return FindEntry(entries, flag, what, "--" + what);
    if (!context) return std::nullopt;
    const std::string name = context->Text(what, complaints_);
    if (name.empty()) return std::nullopt;
    return FindEntry(entries, name, what, context->Member(what).Place());
  }

  void ChooseNamespace(const Entry& context) {
    std::string name = flags_.default_namespace;
    std::string place = "--namespace";
    if (name.empty() && context) {
      name = context->Text("namespace", complaints_);
      place = context->Member("namespace").Place();
    }
    if (name.empty()) return;
    NamespaceFault(place, name, complaints_);
    access_.default_namespace = name;
  }

  void ReadServer(const Entry& context, const Entry& cluster) {
    std::string place = "--server";
    std::string server = flags_.server;
    if (server.empty() && cluster) {
      server = cluster->RequiredText("server", "write https://ADDRESS:PORT", complaints_);
      place = cluster->Member("server").Place();
    } else if (server.empty() && context && !context->Member("cluster")) {
      complaints_.Add(context->Place(), context->Field() + " has no cluster");
    }
    if (server.empty()) return;  // already reported
    ServerUrl url = ReadServerUrl(server);
    if (!url.fault.empty()) complaints_.Add(place, url.fault, url.fix);
    access_.server = std::move(url.text);
  }

  void ReadCluster(const ConfigNode& cluster) {
    access_.insecure = cluster.Flag("insecure-skip-tls-verify", complaints_);
    // The name belongs to the configured server.
    if (flags_.server.empty()) {
      access_.tls_server_name = cluster.Text("tls-server-name", complaints_);
    }
    // Values that flags replace are not checked.
    if (flags_.insecure || !flags_.certificate_authority.empty()) {
      access_.insecure = false;
    } else {
      ReadAuthority(cluster);
    }
    access_.proxy = cluster.Text("proxy-url", complaints_);
    if (!access_.proxy.empty() && !IsProxyUrl(access_.proxy)) {
      const ConfigNode member = cluster.Member("proxy-url");
      complaints_.Add(member.Place(), member.Field() + " is not a proxy URL",
                      "it must start with http://, https:// or socks5://");
    }
  }

  void ReadAuthority(const ConfigNode& cluster) {
    Material authority = ReadMaterial(cluster, kAuthority, complaints_);
    if (access_.insecure && authority.given) {
      complaints_.Add(cluster.Member("insecure-skip-tls-verify").Place(),
                      cluster.Field() +
                          " has both a certificate authority and "
                          "insecure-skip-tls-verify, which ignores it",
                      "remove insecure-skip-tls-verify");
    }
    access_.authority = std::move(authority.text);
  }

  const Kubeconfig& config_;
  const AccessFlags& flags_;
  const Clock& clock_;
  ConfigErrors complaints_;
  Access access_;
};

}  // namespace

Answer<Access> ChooseAccess(const Kubeconfig& config, const AccessFlags& flags,
                            const Clock& clock) {
  return AccessBuilder(config, flags, clock).Choose();
}

}  // namespace mindgate::kube
