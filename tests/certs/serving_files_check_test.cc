#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "certs/serving_files.h"
#include "support/certificates.h"

namespace mindgate::certs {
namespace {

using testing::FilesOf;
using testing::kDay;
using testing::KeyPem;
using testing::kNow;
using testing::kService;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::NewOdd;
using testing::NewRsaLeaf;
using testing::OddRequest;
using testing::Pem;

// The whole answer, one problem a line; hints are left out, their text is in the tables of hints.
std::string Lines(const Problems& problems) {
  EXPECT_EQ(ERR_peek_error(), 0u) << "a later TLS call of this thread would stumble over it";
  std::string text;
  for (const Problem& problem : problems) {
    EXPECT_NE(problem.hint, "") << problem.message;
    text += problem.file + ": " + problem.message + "\n";
  }
  return text;
}

std::string Check(const ServingFiles& files, Time now = kNow,
                  const std::vector<std::string>& names = {kService}) {
  return Lines(CheckServing(files, {now, names}));
}

// Root, intermediate and leaf, as a CA of a company has them.
struct Company {
  Company() {
    OddRequest ca;
    ca.common_name = "root";
    ca.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
    root = NewOdd(nullptr, std::move(ca));
    OddRequest below;
    below.common_name = "intermediate";
    below.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
    intermediate = NewOdd(&root, std::move(below));
    leaf = NewLeaf(intermediate);
  }
  ServingFiles Files() const { return {Pem(leaf) + Pem(intermediate), KeyPem(leaf), Pem(root)}; }
  Identity root;
  Identity intermediate;
  Identity leaf;
};

TEST(CheckServing, AcceptsEcAndRsaWithAndWithoutAuthority) {
  const Identity authority = NewAuthority();
  for (const Identity& leaf : {NewLeaf(authority), NewRsaLeaf(authority)}) {
    EXPECT_EQ(Check(FilesOf(leaf)), "");
    EXPECT_EQ(Check(FilesOf(leaf, &authority)), "");
    EXPECT_EQ(Check({Pem(leaf) + Pem(authority), KeyPem(leaf), Pem(authority)}), "");
  }
}

TEST(CheckServing, AcceptsAChainOfThree) {
  const Company company;
  EXPECT_EQ(Check(company.Files()), "");
  ServingFiles with_root = company.Files();
  with_root.chain += Pem(company.root);
  EXPECT_EQ(Check(with_root), "");
  // Go takes an intermediate certificate in caBundle for a root.
  ServingFiles trusted_halfway = company.Files();
  trusted_halfway.authority = Pem(company.intermediate);
  EXPECT_EQ(Check(trusted_halfway), "");
}

TEST(CheckServing, AcceptsASelfSignedServer) {
  OddRequest request;
  request.extensions = {{NID_subject_alt_name, "DNS:webhook.mindgate-system.svc"},
                        {NID_basic_constraints, "critical,CA:TRUE"}};
  const Identity self = NewOdd(nullptr, std::move(request));
  EXPECT_EQ(Check(FilesOf(self, &self)), "");
}

TEST(CheckServing, AcceptsBothAuthoritiesDuringARotation) {
  const Identity old_authority = NewAuthority(kNow - kDay);
  const Identity authority = NewAuthority();
  ServingFiles files = FilesOf(NewLeaf(old_authority), &authority);
  files.authority += Pem(old_authority);
  EXPECT_EQ(Check(files), "");
}

TEST(CheckServing, RefusesFilesThatHoldNothingUsable) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  const ServingFiles good = FilesOf(leaf, &authority);
  unsigned char* der = nullptr;
  const int size = i2d_X509(leaf.certificate.get(), &der);
  const std::string binary(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);

  const auto with = [&](std::string chain, std::string key) {
    return Check({std::move(chain), std::move(key), good.authority});
  };
  EXPECT_EQ(with("", ""), "tls.crt: is empty\ntls.key: is empty\n");
  EXPECT_EQ(with(" \n", good.key), "tls.crt: is empty\n");
  EXPECT_EQ(with(binary, good.key), "tls.crt: holds DER, not PEM\n");
  EXPECT_EQ(with(std::string(100000, '\xff'), good.key), "tls.crt: holds no certificate\n");
  EXPECT_EQ(with(good.chain, good.chain), "tls.key: holds no private key\n");
  EXPECT_EQ(with(good.key, good.chain),
            "tls.crt: holds no certificate\ntls.key: holds no private key\n")
      << "exchanged";
  EXPECT_EQ(with(good.chain.substr(0, 200), good.key),
            "tls.crt: certificate 1 is cut off or is not PEM\n");
  EXPECT_EQ(with(good.chain, good.key.substr(0, 100)),
            "tls.key: the private key is damaged or cut off\n");
  EXPECT_EQ(Check({good.chain, good.key, "rubbish"}), "ca.crt: holds no certificate\n");
  EXPECT_EQ(Check({good.chain, good.key, " \n"}), "") << "cert-manager with ACME writes none";
}

TEST(CheckServing, RefusesAPairThatIsNone) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  for (const Identity& other : {NewLeaf(authority), NewRsaLeaf(authority)}) {
    EXPECT_EQ(Check({Pem(leaf), KeyPem(other), ""}),
              "tls.key: is not the key of the certificate in tls.crt "
              "(\"CN=webhook.mindgate-system.svc\")\n");
  }
}

// Not one byte of a certificate may be another, wherever it stands.
TEST(CheckServing, RefusesEveryDamageOfACertificate) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  unsigned char* der = nullptr;
  const int size = i2d_X509(leaf.certificate.get(), &der);
  for (int i = 0; i < size; ++i) {
    std::vector<unsigned char> damaged(der, der + size);
    damaged[static_cast<size_t>(i)] ^= static_cast<unsigned char>(1 + i % 255);
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio(bio, PEM_STRING_X509, "", damaged.data(), size);
    char* pem = nullptr;
    const long length = BIO_get_mem_data(bio, &pem);
    const std::string chain(pem, static_cast<size_t>(length));
    BIO_free(bio);
    EXPECT_NE(Check({chain, KeyPem(leaf), Pem(authority)}), "") << "byte " << i;
  }
  OPENSSL_free(der);
}

TEST(CheckServing, RefusesAChainInTheWrongOrder) {
  const Company company;
  ServingFiles files = company.Files();
  files.chain = Pem(company.intermediate) + Pem(company.leaf);
  EXPECT_EQ(Check(files, kNow, {}),
            "tls.crt: the order is wrong: the key in tls.key is that of certificate 2 "
            "(\"CN=webhook.mindgate-system.svc\")\n"
            "tls.crt: certificate 1 (\"CN=intermediate\") was not signed by certificate 2 "
            "(\"CN=webhook.mindgate-system.svc\")\n");
  files.chain = Pem(company.leaf) + Pem(company.root) + Pem(company.intermediate);
  EXPECT_EQ(Check(files),
            "tls.crt: the order is wrong: certificate 1 (\"CN=webhook.mindgate-system.svc\") was "
            "signed by certificate 3 and not by the one after it\n");
  files.chain = Pem(company.leaf) + Pem(NewAuthority());
  EXPECT_EQ(Check(files),
            "tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") was not signed by "
            "certificate 2 (\"CN=mindgate-ca@1767225600\")\n");
}

// Same names, other key: what a recreated CA looks like.
TEST(CheckServing, RefusesAnIssuerThatOnlyHasTheName) {
  const Identity authority = NewAuthority();
  const Identity namesake = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(Check({Pem(leaf) + Pem(namesake), KeyPem(leaf), ""}),
            "tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") was not signed by "
            "certificate 2 (\"CN=mindgate-ca@1767225600\")\n");
  EXPECT_EQ(Check(FilesOf(leaf, &namesake)),
            "ca.crt: none of its CAs vouches for the certificate in tls.crt: unable to "
            "get local issuer certificate\n");
}

// A CA that is replaced within the second in which it was made.
TEST(CheckServing, AcceptsABundleOfNamesakes) {
  const Identity authority = NewAuthority();
  const Identity namesake = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(Check({Pem(leaf), KeyPem(leaf), Pem(namesake) + Pem(authority)}), "");
  EXPECT_EQ(Check({Pem(leaf), KeyPem(leaf), Pem(authority) + Pem(namesake)}), "");
}

TEST(CheckServing, RefusesALinkThatIsNoAuthority) {
  const Identity authority = NewAuthority();
  OddRequest request;
  request.common_name = "no ca";
  request.extensions = {{NID_basic_constraints, "critical,CA:FALSE"}};
  const Identity middle = NewOdd(&authority, std::move(request));
  OddRequest below;
  below.extensions = {{NID_subject_alt_name, "DNS:webhook.mindgate-system.svc"}};
  const Identity leaf = NewOdd(&middle, std::move(below));
  EXPECT_EQ(Check({Pem(leaf) + Pem(middle), KeyPem(leaf), ""}),
            "tls.crt: certificate 2 (\"CN=no ca\") signed the one before it but is not a CA\n");
}

TEST(CheckServing, LooksAtTheDatesOfAll) {
  const Company company;
  const ServingFiles files = company.Files();
  EXPECT_EQ(Check(files, kNow + 100 * kDay - std::chrono::seconds(1)), "");
  EXPECT_EQ(
      Check(files, kNow + 100 * kDay),
      "tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") expired at "
      "2026-04-11T00:00:00Z; it is now 2026-04-11T00:00:00Z\n"
      "tls.crt: certificate 2 (\"CN=intermediate\") expired at 2026-04-11T00:00:00Z; it is now "
      "2026-04-11T00:00:00Z\n");
  const Identity authority = NewAuthority();
  const ServingFiles own = FilesOf(NewLeaf(authority), &authority);
  EXPECT_EQ(Check(own, kNow - kClockSkew), "") << "backdated for clocks that differ";
  EXPECT_EQ(Check(own, kNow - kClockSkew - std::chrono::seconds(1)),
            "tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") is not valid before "
            "2025-12-31T23:55:00Z; it is now 2025-12-31T23:54:59Z\n");
}

TEST(CheckServing, AnExpiredAuthorityVouchesForNobody) {
  const Identity authority = NewAuthority();
  OddRequest request;
  request.life = std::chrono::days(5000);
  request.extensions = {{NID_subject_alt_name, "DNS:webhook.mindgate-system.svc"}};
  const Identity leaf = NewOdd(&authority, std::move(request));
  EXPECT_EQ(Check(FilesOf(leaf, &authority), kNow + 4000 * kDay),
            "ca.crt: none of its CAs vouches for the certificate in tls.crt: certificate "
            "has expired\n");
}

TEST(CheckServing, TheNamesMustCoverTheService) {
  const Identity authority = NewAuthority();
  const ServingFiles files = FilesOf(NewLeaf(authority, [](LeafRequest& request) {
    request.dns_names = {"webhook.default.svc", "*.example.com"};
    request.ip_addresses = {"10.0.0.1", "::1"};
  }));
  const auto good = {
      "webhook.default.svc", "WEBHOOK.default.svc", "a.example.com", "10.0.0.1", "::1", "0:0::1"};
  for (const char* name : good) EXPECT_EQ(Check(files, kNow, {name}), "") << name;
  const auto bad = {"webhook.default", "default.svc", "example.com",
                    "a.b.example.com", "10.0.0.2",    ""};
  for (const char* name : bad) EXPECT_NE(Check(files, kNow, {name}), "") << name;
  EXPECT_EQ(Check(files, kNow, {"webhook.default.svc", kService, "10.0.0.2"}),
            "tls.crt: the certificate \"CN=webhook.default.svc\" is not for "
            "\"webhook.mindgate-system.svc\", \"10.0.0.2\"; it is for \"webhook.default.svc\", "
            "\"*.example.com\", \"10.0.0.1\", \"::1\"\n");
}

// Go, and so the API server, has ignored common names since 1.15.
TEST(CheckServing, ACommonNameIsNoName) {
  const Identity authority = NewAuthority();
  OddRequest request;
  request.common_name = kService;
  const Identity leaf = NewOdd(&authority, std::move(request));
  EXPECT_EQ(Check(FilesOf(leaf, &authority)),
            "tls.crt: the certificate \"CN=webhook.mindgate-system.svc\" is not for "
            "\"webhook.mindgate-system.svc\"; it has no subject alternative names, and a common "
            "name does not count\n");
}

TEST(CheckServing, RefusesACertificateForOtherUses) {
  const Identity authority = NewAuthority();
  const Identity client =
      NewLeaf(authority, [](LeafRequest& request) { request.usage = LeafRequest::Usage::kClient; });
  EXPECT_EQ(Check(FilesOf(client)),
            "tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") is not for servers: its "
            "key usages lack serverAuth or digitalSignature\n");
}

struct Weak {
  const char* name;
  std::function<OddRequest()> make;
  const char* want;
};

TEST(CheckServing, RefusesKeysAndSignaturesThatClientsRefuse) {
  const auto with_key = [](EVP_PKEY* key) {
    OddRequest request;
    request.key.reset(key);
    return request;
  };
  const auto with_digest = [](const EVP_MD* digest) {
    OddRequest request;
    request.digest = digest;
    return request;
  };
  const Weak table[] = {
      {"RSA 1024", [&] { return with_key(EVP_RSA_gen(1024)); },
       "tls.crt: certificate 1 (\"CN=odd\") has a key that is too weak: RSA 1024\n"},
      {"P-192", [&] { return with_key(EVP_EC_gen("P-192")); },
       "tls.crt: certificate 1 (\"CN=odd\") has a key type that API servers do not support: "
       "ECDSA P-192\n"},
      {"secp256k1", [&] { return with_key(EVP_EC_gen("secp256k1")); },
       "tls.crt: certificate 1 (\"CN=odd\") has a key type that API servers do not support: "
       "ECDSA secp256k1\n"},
      {"SHA-1", [&] { return with_digest(EVP_sha1()); },
       "tls.crt: certificate 1 (\"CN=odd\") is signed with SHA1, which API servers refuse\n"},
      {"P-384", [&] { return with_key(EVP_EC_gen("P-384")); }, ""},
      {"RSA 3072", [&] { return with_key(EVP_RSA_gen(3072)); }, ""},
      {"Ed25519", [&] { return with_key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }, ""},
      {"SHA-384", [&] { return with_digest(EVP_sha384()); }, ""},
  };
  const Identity authority = NewAuthority();
  for (const Weak& weak : table) {
    SCOPED_TRACE(weak.name);
    OddRequest request = weak.make();
    request.extensions = {{NID_subject_alt_name, "DNS:webhook.mindgate-system.svc"}};
    EXPECT_EQ(Check(FilesOf(NewOdd(&authority, std::move(request)))), weak.want);
  }
}

TEST(CheckServing, NamesEveryProblemAtOnce) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority, [](LeafRequest& request) {
    request.dns_names = {"other.svc"};
    request.life = kDay;
  });
  EXPECT_EQ(Check({Pem(leaf), KeyPem(authority), Pem(authority)}, kNow + 2 * kDay),
            "tls.key: is not the key of the certificate in tls.crt (\"CN=other.svc\")\n"
            "tls.crt: certificate 1 (\"CN=other.svc\") expired at 2026-01-02T00:00:00Z; it is now "
            "2026-01-03T00:00:00Z\n"
            "tls.crt: the certificate \"CN=other.svc\" is not for "
            "\"webhook.mindgate-system.svc\"; it is for \"other.svc\"\n");
}

std::string CheckClients(const std::string& text, Time now = kNow) {
  return Lines(CheckClientAuthority(text, "clients.crt", now));
}

TEST(CheckClientAuthority, AcceptsBundles) {
  const Identity old_authority = NewAuthority(kNow - 3640 * kDay);
  EXPECT_EQ(CheckClients(Pem(NewAuthority()) + Pem(old_authority)), "");
  EXPECT_EQ(CheckClients(Pem(NewAuthority()) + Pem(old_authority), kNow + 20 * kDay), "")
      << "an old authority may end while the new one is there";
}

TEST(CheckClientAuthority, RefusesWhatCanVouchForNobody) {
  const Identity authority = NewAuthority();
  EXPECT_EQ(CheckClients(""), "clients.crt: is empty\n");
  EXPECT_EQ(CheckClients("rubbish"), "clients.crt: holds no certificate\n");
  EXPECT_EQ(CheckClients(Pem(authority).substr(0, 300)),
            "clients.crt: certificate 1 is cut off or is not PEM\n");
  EXPECT_EQ(
      CheckClients(Pem(authority) + Pem(NewLeaf(authority))),
      "clients.crt: certificate 2 (\"CN=webhook.mindgate-system.svc\") is not a CA: it cannot "
      "vouch for clients\n");
  OddRequest weak;
  weak.key.reset(EVP_RSA_gen(1024));
  weak.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
  EXPECT_EQ(CheckClients(Pem(NewOdd(nullptr, std::move(weak)))),
            "clients.crt: certificate 1 (\"CN=odd\") has a key that is too weak: RSA 1024\n");
  OddRequest old;
  old.digest = EVP_sha1();
  old.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
  EXPECT_EQ(CheckClients(Pem(NewOdd(&authority, std::move(old)))),
            "clients.crt: certificate 1 (\"CN=odd\") is signed with SHA1, which API servers "
            "refuse\n");
  EXPECT_EQ(CheckClients(Pem(authority), kNow + 3650 * kDay),
            "clients.crt: certificate 1 (\"CN=mindgate-ca@1767225600\") expired at "
            "2035-12-30T00:00:00Z; it is now 2035-12-30T00:00:00Z\n");
  EXPECT_EQ(CheckClients(Pem(authority), kNow + 4000 * kDay),
            "clients.crt: certificate 1 (\"CN=mindgate-ca@1767225600\") expired at "
            "2035-12-30T00:00:00Z; it is now 2036-12-14T00:00:00Z\n");
}

TEST(Render, IsOneLine) {
  EXPECT_EQ(Render({{"tls.crt", "is empty", "write it"}, {"tls.key", "is empty", ""}}),
            "tls.crt: is empty (write it); tls.key: is empty");
}

}  // namespace
}  // namespace mindgate::certs
