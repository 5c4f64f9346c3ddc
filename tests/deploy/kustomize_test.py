"""`mindgate` as an exec function of a real kustomize: what it generates, changes, and says when it fails."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["MINDGATE_BINARY"]
EXEC = ("--enable-alpha-plugins", "--enable-exec")
ENGINE = {"inference_service": {"model_name": "llama", "engine": {"npu_num": 8, "tp_size": 8}}}

Object = dict[str, Any]


def run(*command: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def objects_of(text: str) -> list[Object]:
    return [each for each in yaml.safe_load_all(text) if each]


def titles(objects: list[Object]) -> list[str]:
    return sorted(f"{each['kind']} {each['metadata']['name']}" for each in objects)


def build(
    spec: Object, *flags: str, files: dict[str, Object] | None = None, **kustomization: Any
) -> subprocess.CompletedProcess[str]:
    """Builds a folder with an application (app.yaml), the program that renders it, and other files."""
    application = {
        "apiVersion": "mindgate.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": "chat",
            "namespace": "llm",
            "annotations": {"config.kubernetes.io/function": "exec:\n  path: ./mindgate\n"},
        },
        "spec": spec,
    }
    with tempfile.TemporaryDirectory(prefix="mindgate-kustomize-") as name:
        folder = pathlib.Path(name)
        (folder / "mindgate").symlink_to(BINARY)
        for path, content in {"app.yaml": application, "kustomization.yaml": kustomization, **(files or {})}.items():
            (folder / path).write_text(yaml.safe_dump(content))
        return run(ROOT / "scripts/kustomize", "build", *flags, folder)


class ExecFunction(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        found = run(ROOT / "scripts/kustomize", "version")
        if found.returncode != 0 and os.environ.get("CI"):
            raise RuntimeError(f"kustomize is needed in CI: {found.stderr}")
        if found.returncode != 0:
            raise unittest.SkipTest(f"no kustomize: {found.stderr}")

    def test_a_generator_makes_what_a_dry_run_prints(self) -> None:
        for framework in ("ome", "aibrix", "mindie"):
            with self.subTest(framework):
                config = run(BINARY, "deploy", "--init", framework).stdout
                spec = yaml.safe_load(config)
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                    file.write(config)
                    file.flush()
                    printed = run(BINARY, "deploy", "-f", file.name, "--dry-run")
                built = build(spec, *EXEC, generators=["app.yaml"])
                self.assertEqual(built.returncode, 0, built.stderr)
                want = {(each["kind"], each["metadata"]["name"]): each for each in objects_of(printed.stdout)}
                have = {(each["kind"], each["metadata"]["name"]): each for each in objects_of(built.stdout)}
                self.assertTrue(want)
                self.assertEqual(have, want)

    def test_name_and_namespace_are_those_of_the_application(self) -> None:
        built = build(ENGINE, *EXEC, generators=["app.yaml"])
        (service,) = objects_of(built.stdout)
        self.assertEqual((service["metadata"]["name"], service["metadata"]["namespace"]), ("chat", "llm"))
        self.assertEqual(built.stderr, "")

    def test_a_transformer_replaces_prunes_and_leaves_the_rest(self) -> None:
        marks = {
            "labels": {"app.kubernetes.io/instance": "chat", "app.kubernetes.io/managed-by": "mindgate-deploy"},
            "annotations": {"mindgate.io/application": "llm/chat"},
            "namespace": "llm",
        }
        files = {
            "store.yaml": {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "chat-mf-store", **marks},
                "spec": {"ports": [{"port": 9000}]},
            },
            "main.yaml": {"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "chat", **marks}},
            "other.yaml": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "other"},
                "data": {"octal": "010", "word": "on", "number": "1.50"},
            },
        }
        built = build(ENGINE, *EXEC, files=files, resources=list(files), transformers=["app.yaml"])
        self.assertEqual(built.returncode, 0, built.stderr)
        objects = objects_of(built.stdout)
        self.assertEqual(titles(objects), ["ConfigMap other", "InferenceService chat"])
        by_kind = {each["kind"]: each for each in objects}
        self.assertEqual(by_kind["ConfigMap"], files["other.yaml"])
        self.assertEqual(by_kind["InferenceService"]["spec"]["model"], {"name": "llama"})

    def test_what_is_wrong_is_reported_although_kustomize_shows_no_results(self) -> None:
        wrong = {"inference_service": {"model_name": "llama", "engine": {"npu_nums": 8}}}
        denied = {"inference_service": {"model_name": "llama", "engine": {"npu_num": 8, "labels": {"fault-scheduling": "Force"}}}}
        for spec, fault in (
            (wrong, 'error: spec.inference_service.engine.npu_nums: unknown key "npu_nums"; did you mean "npu_num"?'),
            (denied, "error: InferenceService chat: MG050 fault-scheduling-value: spec.engine.labels[fault-scheduling]: "),
        ):
            built = build(spec, *EXEC, generators=["app.yaml"])
            self.assertNotEqual(built.returncode, 0)
            self.assertIn(fault, built.stderr)
            self.assertEqual(built.stdout, "")

    def test_a_warning_stops_nothing(self) -> None:
        small = {"inference_service": {"model_name": "llama", "engine": {"npu_num": 1}}}
        built = build(small, *EXEC, generators=["app.yaml"])
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertIn("warning: InferenceService chat: MG081 ", built.stderr)
        self.assertEqual(titles(objects_of(built.stdout)), ["InferenceService chat"])

    def test_without_the_flags_nothing_is_made(self) -> None:
        """docs/deploy.md warns of both: kustomize refuses without the first flag, and is silent without the second."""
        refused = build(ENGINE, generators=["app.yaml"])
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("external plugins disabled", refused.stderr)
        silent = build(ENGINE, "--enable-alpha-plugins", generators=["app.yaml"])
        self.assertEqual((silent.returncode, silent.stdout), (0, ""))


ADMISSION = yaml.safe_load((ROOT / "docs/gitops.md").read_text().split("# admission.yaml\n")[1].split("```")[0])
CHAT = yaml.safe_load((ROOT / "examples/manifests/chat.yaml").read_text())


def admit(deployment: Object, *, spec: Object | None = None, **kustomization: Any) -> subprocess.CompletedProcess[str]:
    """Builds chat.yaml with docs/gitops.md's admission.yaml."""
    admission = ADMISSION | ({"spec": spec} if spec else {})
    return build({}, *EXEC, files={"admission.yaml": admission, "chat.yaml": deployment}, resources=["chat.yaml"], **kustomization)


class AdmissionFunction(unittest.TestCase):
    maxDiff = None
    setUpClass = ExecFunction.setUpClass

    def test_a_transformer_writes_what_apply_does(self) -> None:
        built = admit(CHAT, transformers=["admission.yaml"])
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        applied = run(BINARY, "apply", "-f", ROOT / "examples/manifests/chat.yaml")
        self.assertEqual(objects_of(built.stdout), objects_of(applied.stdout))
        self.assertNotEqual(objects_of(built.stdout), [CHAT])

    def test_a_denial_fails_the_build(self) -> None:
        wrong = yaml.safe_load(yaml.safe_dump(CHAT))
        wrong["spec"]["template"]["metadata"]["labels"]["fault-scheduling"] = "Force"
        built = admit(wrong, transformers=["admission.yaml"])
        self.assertNotEqual(built.returncode, 0)
        self.assertIn("error: Deployment serving/chat: spec.template.metadata.labels[fault-scheduling]: MG050 ", built.stderr)
        self.assertEqual(built.stdout, "")

    def test_its_spec_is_read(self) -> None:
        built = admit(CHAT, spec={"config": {"scheduler": "other"}}, transformers=["admission.yaml"])
        (deployment,) = objects_of(built.stdout)
        self.assertEqual(deployment["spec"]["template"]["spec"]["schedulerName"], "other")


if __name__ == "__main__":
    unittest.main()
