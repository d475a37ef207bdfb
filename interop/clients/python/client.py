"""Does with the client of Kubernetes what programs do with machines.

Called with the name of a part: reads, around, watches, writes, dynamic. The kubeconfig is
that of KUBECONFIG. Prints what came of it as one JSON object.
"""

import json
import sys
import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

GROUP, VERSION, PLURAL = "kubevirt.io", "v1", "virtualmachineinstances"
LAB = (GROUP, VERSION, "lab", PLURAL)


def machine(name):
    return {
        "apiVersion": GROUP + "/" + VERSION,
        "kind": "VirtualMachineInstance",
        "metadata": {"name": name, "namespace": "lab", "labels": {"app": "python"}},
        "spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}},
    }


def refused(do, *args, **kwargs):
    """The status, reason and details of an error."""
    try:
        do(*args, **kwargs)
    except ApiException as e:
        body = json.loads(e.body)
        return {"status": e.status, "reason": body["reason"], "name": body.get("details", {}).get("name")}
    return None


def reads():
    api = client.CustomObjectsApi()
    everything = api.list_cluster_custom_object(GROUP, VERSION, PLURAL)
    names, pages, more = [], 0, {}
    while pages == 0 or more:
        page = api.list_cluster_custom_object(GROUP, VERSION, PLURAL, limit=10, **more)
        pages += 1
        names += [m["metadata"]["name"] for m in page["items"]]
        token = page["metadata"].get("continue")
        more = {"_continue": token} if token else {}
    return {
        "names": [m["metadata"]["name"] for m in everything["items"]],
        "pages": pages,
        "same": names == [m["metadata"]["name"] for m in everything["items"]],
        "one": api.get_namespaced_custom_object(*LAB, "fedora-agent"),
        "selected": [m["metadata"]["name"] for m in api.list_namespaced_custom_object(
            *LAB, label_selector="kubevirt.io/nodeName=worker-a")["items"]],
        "missing": refused(api.get_namespaced_custom_object, *LAB, "nosuch"),
    }


def around():
    """What has models in this client, which refuse an object that lacks a part."""
    core, leases = client.CoreV1Api(), client.CoordinationV1Api()
    about = client.CustomObjectsApi().get_namespaced_custom_object(*LAB, "fedora-agent")
    core.create_namespaced_event("lab", client.CoreV1Event(
        metadata=client.V1ObjectMeta(generate_name="python-"),
        involved_object=client.V1ObjectReference(
            api_version=about["apiVersion"], kind=about["kind"], namespace="lab", name="fedora-agent", uid=about["metadata"]["uid"]),
        reason="Seen", message="by Python", type="Normal", count=1))
    leases.create_namespaced_lease("lab", client.V1Lease(
        metadata=client.V1ObjectMeta(name="python"), spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15)))
    review = client.AuthorizationV1Api().create_self_subject_access_review(client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=client.V1ResourceAttributes(
            group=GROUP, resource=PLURAL, verb="escalate", namespace="lab"))))
    definition = client.ApiextensionsV1Api().read_custom_resource_definition(PLURAL + "." + GROUP)
    return {
        "namespaces": [n.metadata.name for n in core.list_namespace().items],
        "nodes": [n.metadata.name for n in core.list_node().items],
        "events": [e.message for e in core.list_namespaced_event("lab", field_selector="involvedObject.name=fedora-agent").items],
        "lease": leases.read_namespaced_lease("python", "lab").spec.holder_identity,
        "allowed": review.status.allowed,
        "versions": [v.name for v in definition.spec.versions],
        "empty": [len(o.items) for o in (
            core.list_pod_for_all_namespaces(), core.list_secret_for_all_namespaces(),
            core.list_persistent_volume_claim_for_all_namespaces())],
        "version": client.VersionApi().get_code().major,
    }


def watches():
    api = client.CustomObjectsApi()
    version = api.list_namespaced_custom_object(*LAB)["metadata"]["resourceVersion"]

    def write():
        api.create_namespaced_custom_object(*LAB, machine("watched"))
        api.patch_namespaced_custom_object(*LAB, "watched", {"status": {"phase": "Running"}})
        api.delete_namespaced_custom_object(*LAB, "watched")

    writer = threading.Thread(target=write)
    writer.start()
    events, watcher = [], watch.Watch()
    for event in watcher.stream(api.list_namespaced_custom_object, *LAB, resource_version=version, timeout_seconds=60):
        events.append([event["type"], event["object"]["metadata"]["name"], event["object"].get("status", {}).get("phase")])
        if event["type"] == "DELETED":
            watcher.stop()
    writer.join()
    # A second watch from the past ends by itself, at its time.
    again = sum(1 for _ in watch.Watch().stream(
        api.list_namespaced_custom_object, *LAB, resource_version=version, timeout_seconds=1))
    return {"events": events, "again": again}


def writes():
    api = client.CustomObjectsApi()
    made = api.create_namespaced_custom_object(*LAB, machine("written"))
    exists = refused(api.create_namespaced_custom_object, *LAB, machine("written"))
    invalid = machine("written-wrong")
    invalid["spec"]["domain"]["cpu"] = {"cores": "many"}
    patched = api.patch_namespaced_custom_object(*LAB, "written", {"metadata": {"labels": {"tier": "gold"}}})
    patched["status"] = {"phase": "Running"}
    replaced = api.replace_namespaced_custom_object(*LAB, "written", patched)
    stale = refused(api.replace_namespaced_custom_object, *LAB, "written", {**made, "status": {"phase": "Failed"}})
    deleted = api.delete_namespaced_custom_object(*LAB, "written")
    return {
        "generations": [o["metadata"]["generation"] for o in (made, patched, replaced)],
        "labels": replaced["metadata"]["labels"],
        "phase": replaced["status"]["phase"],
        "exists": exists,
        "invalid": refused(api.create_namespaced_custom_object, *LAB, invalid),
        "stale": stale,
        "deleted": deleted["status"],
        "gone": refused(api.get_namespaced_custom_object, *LAB, "written"),
    }


def dynamically():
    api = dynamic.DynamicClient(client.ApiClient())
    machines = api.resources.get(api_version=GROUP + "/" + VERSION, kind="VirtualMachineInstance")
    made = machines.create(body=machine("dynamic"), namespace="lab")
    version = made.metadata.resourceVersion
    merged = machines.patch(name="dynamic", namespace="lab", body={"metadata": {"annotations": {"note": "x"}}},
                            content_type="application/merge-patch+json")
    machines.delete(name="dynamic", namespace="lab")
    events = []
    for event in machines.watch(namespace="lab", resource_version=version, timeout=60):
        events.append([event["type"], event["object"].metadata.name])
        if event["type"] == "DELETED":
            break
    return {
        "short": machines.short_names,
        "names": [m.metadata.name for m in machines.get(namespace="lab").items],
        "note": merged.metadata.annotations.note,
        "events": events,
    }


if __name__ == "__main__":
    config.load_kube_config()
    parts = {"reads": reads, "around": around, "watches": watches, "writes": writes, "dynamic": dynamically}
    print(json.dumps(parts[sys.argv[1]]()))
