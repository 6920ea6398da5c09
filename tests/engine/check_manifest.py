"""Checks manifests against the published API of Kubernetes: every field is known, has its type, and none that is
required is missing.

The fields of Service, Job and Pod are those of the package python3-kubernetes of Debian, whose models are generated from
the OpenAPI document of Kubernetes (22.6: of Kubernetes 1.22). The fields of JobSet, which is no part of Kubernetes, are
listed here after its CustomResourceDefinition (kubernetes-sigs/jobset, v1alpha2). It does not ask a cluster.

usage: check_manifest.py FILE…
"""
import re
import sys

import yaml
from kubernetes import client

# Own tables of fields: name -> type, required ones with '!'.
JOBSET = {
    "JobSet": {"apiVersion!": "str", "kind!": "str", "metadata!": "V1ObjectMeta", "spec!": "JobSetSpec"},
    "JobSetSpec": {"replicatedJobs!": "list[ReplicatedJob]", "network": "Network", "successPolicy": "SuccessPolicy",
                   "failurePolicy": "FailurePolicy", "startupPolicy": "StartupPolicy", "suspend": "bool",
                   "coordinator": "Coordinator", "managedBy": "str", "ttlSecondsAfterFinished": "int"},
    "ReplicatedJob": {"name!": "str", "groupName": "str", "template!": "V1JobTemplateSpec", "replicas": "int",
                      "dependsOn": "list[DependsOn]"},
    "Network": {"enableDNSHostnames": "bool", "subdomain": "str", "publishNotReadyAddresses": "bool"},
    "SuccessPolicy": {"operator!": "str", "targetReplicatedJobs": "list[str]"},
    "FailurePolicy": {"maxRestarts": "int", "restartStrategy": "str", "rules": "list[object]"},
    "StartupPolicy": {"startupPolicyOrder!": "str"},
    "Coordinator": {"replicatedJob!": "str", "jobIndex": "int", "podIndex": "int"},
    "DependsOn": {"name!": "str", "status!": "str"},
}
KINDS = {("v1", "Service"): "V1Service", ("v1", "Pod"): "V1Pod", ("batch/v1", "Job"): "V1Job",
         ("jobset.x-k8s.io/v1alpha2", "JobSet"): "JobSet"}
SCALARS = {"str": str, "bool": bool, "int": int, "float": (int, float), "datetime": str}
# Rules of the API that are not in its types.
NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?([KMGTPE]i?|[mk])?")

problems = []


def wrong(path, text):
    problems.append(f"{path}: {text}")


def check(path, value, kind):
    """The value against the name of a type."""
    if kind.startswith("list["):
        if not isinstance(value, list):
            return wrong(path, f"a list, got {value!r}")
        for i, one in enumerate(value):
            check(f"{path}[{i}]", one, kind[5:-1])
        return None
    if kind.startswith("dict("):
        if not isinstance(value, dict):
            return wrong(path, f"a map, got {value!r}")
        for name, one in value.items():
            check(f"{path}.{name}", one, kind[5:-1].split(", ")[1])
        return None
    if kind == "object":
        return None
    if kind in SCALARS:
        if not isinstance(value, SCALARS[kind]) or (isinstance(value, bool) and kind != "bool"):
            wrong(path, f"{kind}, got {value!r}")
        return None
    if not isinstance(value, dict):
        return wrong(path, f"{kind}, got {value!r}")
    return check_fields(path, value, kind)


def check_fields(path, value, kind):
    if kind in JOBSET:
        types = {name.rstrip("!"): type_ for name, type_ in JOBSET[kind].items()}
        for name in (name[:-1] for name in JOBSET[kind] if name.endswith("!")):
            if name not in value:
                wrong(path, f"{kind} has no {name}")
    else:
        model = getattr(client, kind)
        types = {model.attribute_map[name]: type_ for name, type_ in model.openapi_types.items()}
        attributes = {json: name for name, json in model.attribute_map.items()}
        known = {attributes[name]: one for name, one in value.items() if name in attributes}
        try:
            model(**known)  # refuses values that are not allowed, and misses those that are required
        except ValueError as error:
            wrong(path, str(error))
    for name, one in value.items():
        if name in types:
            check(f"{path}.{name}", one, types[name])
        else:
            wrong(path, f"{kind} has no field {name}")


def check_rules(document):
    """Rules that the types do not have, for what muster writes."""
    metadata = document["metadata"]
    if not NAME.fullmatch(metadata["name"]) or len(metadata["name"]) > 63:
        wrong("metadata.name", metadata["name"])
    for name, value in metadata.get("labels", {}).items():
        if not LABEL.fullmatch(value) or len(value) > 63:
            wrong(f"metadata.labels.{name}", value)
    pods = []
    spec = document["spec"]
    if document["kind"] == "Pod":
        pods = [spec]
    elif document["kind"] == "Job":
        pods = [spec["template"]["spec"]]
    elif document["kind"] == "JobSet":
        pods = [job["template"]["spec"]["template"]["spec"] for job in spec["replicatedJobs"]]
    for pod in pods:
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        for container in pod["containers"]:
            for mount in container.get("volumeMounts", []):
                if mount["name"] not in volumes:
                    wrong("volumeMounts", f"there is no volume {mount['name']}")
            for amounts in container.get("resources", {}).values():
                for name, amount in amounts.items():
                    if not QUANTITY.fullmatch(str(amount)):
                        wrong(f"resources.{name}", amount)


def main():
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as text:
            documents = list(yaml.safe_load_all(text))
        if not documents:
            wrong(file, "there is no document")
        for document in documents:
            kind = KINDS.get((document.get("apiVersion"), document.get("kind")))
            if kind is None:
                wrong(file, f"there is no kind {document.get('apiVersion')} {document.get('kind')}")
                continue
            before = len(problems)
            check(f"{file}: {document['kind']}", document, kind)
            if len(problems) == before:
                check_rules(document)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
