#include <openssl/err.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "certs/authority.h"
#include "certs/certificate.h"

namespace mindgate::certs {
namespace {

std::string_view TextOf(const Files& files, const char* name) {
  const auto found = files.find(name);
  return found == files.end() ? std::string_view() : std::string_view(found->second);
}

// When a certificate of ours was made: it is backdated.
Time MadeAt(X509* certificate) { return NotBefore(certificate) + kClockSkew; }

// Two thirds of a life leave a third for things to go wrong in, as cert-manager has it.
Time RenewAt(X509* certificate) {
  return MadeAt(certificate) + (NotAfter(certificate) - MadeAt(certificate)) * 2 / 3;
}

Time PublishedAt(const State& state, const RotationPolicy& policy) {
  return MadeAt(state.authority.certificate.get()) + policy.publish;
}

bool HasEnded(X509* certificate, Time now) { return NotAfter(certificate) <= now; }

bool IsServedBy(const State& state, const CertificatePtr& authority) {
  return authority != nullptr && !state.chain.empty() &&
         IsSignedBy(state.chain.front().get(), authority.get());
}

// Whether a new serving certificate is still to be signed by the CA that is on its way out.
bool PreviousSigns(const State& state, const RotationPolicy& policy, Time now) {
  return state.previous != nullptr && state.previous_key != nullptr &&
         !HasEnded(state.previous.get(), now) && now < PublishedAt(state, policy);
}

using Names = std::set<std::string, std::less<>>;

Names NamesOf(const std::vector<std::string>& dns_names,
              const std::vector<std::string>& ip_addresses) {
  Names names(dns_names.begin(), dns_names.end());
  // One address has several spellings.
  for (const std::string& address : ip_addresses) names.insert(NormalAddress(address));
  return names;
}

// Why the pair must be replaced at once; empty: it serves.
std::string FaultOfServing(const State& state, const RotationPolicy& policy, Time now) {
  if (state.chain.empty() || state.key == nullptr) return "there is no serving certificate";
  const Files files = WriteState(state);
  const Problems problems =
      CheckServing({files.at(kChainFile), files.at(kKeyFile), files.at(kAuthorityFile)}, {now, {}});
  if (!problems.empty()) return Render(problems);
  if (policy.dns_names.empty() && policy.ip_addresses.empty()) return "";
  const Description leaf = Describe(state.chain.front().get());
  const Names wanted = NamesOf(policy.dns_names, policy.ip_addresses);
  if (NamesOf(leaf.dns_names, leaf.ip_addresses) == wanted) return "";
  return "the names that it must be valid for have changed";
}

// Why a new serving certificate is due; empty: it is not.
std::string WhyRenew(const State& state, const RotationPolicy& policy, Time now) {
  std::string fault = FaultOfServing(state, policy, now);
  if (!fault.empty()) return fault;
  if (policy.force_serving) return "requested";
  if (IsServedBy(state, state.previous) && now >= PublishedAt(state, policy)) {
    return "clients have had the new CA since " +
           FormatTime(MadeAt(state.authority.certificate.get()));
  }
  const Time due = RenewAt(state.chain.front().get());
  if (now < due) return "";
  return "the serving certificate reached two thirds of its life at " + FormatTime(due);
}

std::string WhyIntroduce(const State& state, const RotationPolicy& policy, Time now) {
  if (state.previous != nullptr) return "";  // one replacement at a time
  if (policy.force_authority) return "requested";
  const Time due = RenewAt(state.authority.certificate.get());
  if (now < due) return "";
  return "the CA reached two thirds of its life at " + FormatTime(due);
}

std::string WhyDrop(const State& state, const RotationPolicy& policy, Time now) {
  if (state.previous == nullptr || !IsServedBy(state, state.authority.certificate)) return "";
  if (HasEnded(state.previous.get(), now)) {
    return "the old CA expired at " + FormatTime(NotAfter(state.previous.get()));
  }
  const Time served = MadeAt(state.chain.front().get());
  if (now < served + policy.overlap) return "";
  return "a certificate of the new CA has been served since " + FormatTime(served);
}

Time NextStep(const State& state, const RotationPolicy& policy) {
  Time next = RenewAt(state.chain.front().get());
  if (state.previous == nullptr) {
    next = std::min(next, RenewAt(state.authority.certificate.get()));
  } else if (IsServedBy(state, state.previous)) {
    next = std::min(next, PublishedAt(state, policy));
  } else {
    next = std::min(
        {next, MadeAt(state.chain.front().get()) + policy.overlap, NotAfter(state.previous.get())});
  }
  return next;
}

Result<void> Renew(State& state, const RotationPolicy& policy, Time now) {
  LeafRequest request;
  request.dns_names = policy.dns_names;
  request.ip_addresses = policy.ip_addresses;
  request.now = now;
  request.life = policy.serving_life;
  if (request.dns_names.empty() && request.ip_addresses.empty() && !state.chain.empty()) {
    Description leaf = Describe(state.chain.front().get());
    request.dns_names = std::move(leaf.dns_names);
    request.ip_addresses = std::move(leaf.ip_addresses);
  }
  Result<Identity> leaf;
  if (PreviousSigns(state, policy, now)) {
    Identity previous{std::move(state.previous), std::move(state.previous_key)};
    leaf = IssueLeaf(previous, request);
    state.previous = std::move(previous.certificate);
    state.previous_key = std::move(previous.key);
  } else {
    leaf = IssueLeaf(state.authority, request);
    if (leaf) state.previous_key.reset();  // it has signed its last
  }
  if (!leaf) return tl::unexpected(std::move(leaf).error());
  state.chain.clear();
  state.chain.push_back(std::move(leaf->certificate));
  state.key = std::move(leaf->key);
  return {};
}

Result<void> NewAuthority(State& state, const RotationPolicy& policy, Time now, bool old_signs) {
  auto authority = CreateAuthority(now, policy.authority_life);
  if (!authority) return tl::unexpected(std::move(authority).error());
  Identity old = std::exchange(state.authority, *std::move(authority));
  state.previous.reset();
  state.previous_key.reset();
  if (old.certificate == nullptr || HasEnded(old.certificate.get(), now)) return {};
  state.previous = std::move(old.certificate);
  if (old_signs) state.previous_key = std::move(old.key);
  return {};
}

}  // namespace

std::string_view StepName(Step step) {
  switch (step) {
    case Step::kReplaceAuthority:
      return "replace-ca";
    case Step::kIntroduceAuthority:
      return "introduce-ca";
    case Step::kRenewServing:
      return "renew-serving";
    case Step::kDropPrevious:
      return "drop-old-ca";
  }
  return "";
}

Result<State> ReadState(const Files& files) {
  State state;
  const std::string_view bundle = TextOf(files, kAuthorityFile);
  auto authorities = ReadCertificates(bundle);
  if (!authorities) return tl::unexpected(std::move(authorities).error().While("reading ca.crt"));
  if (authorities->empty() && !Trim(bundle).empty()) {
    return Fail(ErrorCode::kInvalidArgument, "ca.crt holds no certificate as PEM");
  }
  if (authorities->size() > 2) {
    return Fail(ErrorCode::kInvalidArgument,
                "ca.crt holds " + std::to_string(authorities->size()) +
                    " certificates; mindgate writes at most two, its CA and the previous one");
  }
  if (!authorities->empty()) {
    if (Trim(TextOf(files, kAuthorityKeyFile)).empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "there is ca.crt but no ca.key: another CA issued these certificates, and only "
                  "it can renew them");
    }
    auto key = ReadKey(TextOf(files, kAuthorityKeyFile));
    if (!key) return tl::unexpected(std::move(key).error().While("reading ca.key"));
    if (!IsKeyOf(key->get(), authorities->front().get())) {
      // Cut short between the keys and ca.crt: nobody has seen the new CA, the old one goes on.
      auto previous = ReadKey(TextOf(files, kPreviousKeyFile));
      if (previous) key = std::move(previous);
    }
    if (!IsKeyOf(key->get(), authorities->front().get())) {
      return Fail(ErrorCode::kInvalidArgument,
                  "ca.key is not the key of the first certificate in ca.crt (" +
                      Title(authorities->front().get()) + ")");
    }
    state.authority = {std::move(authorities->front()), *std::move(key)};
  }
  if (authorities->size() == 2) {
    state.previous = std::move(authorities->back());
    auto key = ReadKey(TextOf(files, kPreviousKeyFile));
    if (key && IsKeyOf(key->get(), state.previous.get())) state.previous_key = *std::move(key);
  }
  auto chain = ReadCertificates(TextOf(files, kChainFile));
  if (chain) state.chain = *std::move(chain);
  auto key = ReadKey(TextOf(files, kKeyFile));
  if (key) state.key = *std::move(key);
  return state;
}

Plan MakePlan(const State& state, const RotationPolicy& policy, Time now) {
  Plan plan;
  const auto add = [&plan](Step step, std::string reason) {
    if (!reason.empty()) plan.steps.push_back({step, std::move(reason)});
  };
  X509* authority = state.authority.certificate.get();
  plan.next = now;
  if (authority == nullptr || HasEnded(authority, now)) {
    plan.steps = {{Step::kReplaceAuthority,
                   authority == nullptr ? "there is no CA"
                                        : "the CA expired at " + FormatTime(NotAfter(authority))},
                  {Step::kRenewServing, "the new CA must sign it"}};
    return plan;
  }
  add(Step::kIntroduceAuthority, WhyIntroduce(state, policy, now));
  add(Step::kRenewServing, WhyRenew(state, policy, now));
  if (plan.steps.empty()) add(Step::kDropPrevious, WhyDrop(state, policy, now));
  if (plan.steps.empty()) plan.next = NextStep(state, policy);
  return plan;
}

Result<State> Carry(State state, const Plan& plan, const RotationPolicy& policy, Time now) {
  for (const PlannedStep& planned : plan.steps) {
    Result<void> done;
    switch (planned.step) {
      case Step::kReplaceAuthority:
        done = NewAuthority(state, policy, now, false);
        break;
      case Step::kIntroduceAuthority:
        done = NewAuthority(state, policy, now, true);
        break;
      case Step::kRenewServing:
        done = Renew(state, policy, now);
        break;
      case Step::kDropPrevious:
        state.previous.reset();
        state.previous_key.reset();
        break;
    }
    if (!done) return tl::unexpected(std::move(done).error());
  }
  return state;
}

Files WriteState(const State& state) {
  Files files;
  files[kAuthorityFile] = Bundle(state);
  if (state.authority.key != nullptr)
    files[kAuthorityKeyFile] = WriteKey(state.authority.key.get());
  if (state.previous_key != nullptr) files[kPreviousKeyFile] = WriteKey(state.previous_key.get());
  if (state.key != nullptr) files[kKeyFile] = WriteKey(state.key.get());
  std::string& chain = files[kChainFile];
  for (const CertificatePtr& certificate : state.chain)
    chain += WriteCertificate(certificate.get());
  return files;
}

std::string Bundle(const State& state) {
  std::string bundle;
  if (state.authority.certificate != nullptr) {
    bundle += WriteCertificate(state.authority.certificate.get());
  }
  if (state.previous != nullptr) bundle += WriteCertificate(state.previous.get());
  return bundle;
}

}  // namespace mindgate::certs
