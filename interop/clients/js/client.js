// Does with @kubernetes/client-node what programs do with machines.
//
// Called with the name of a part: reads, watches, informs, writes. The kubeconfig is
// that of KUBECONFIG. Prints what came of it as one JSON object; informs prints what it
// is told while it runs, one JSON array a line.

import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(k8s.CustomObjectsApi);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const machines = { group: 'kubevirt.io', version: 'v1', plural: 'virtualmachineinstances' };
const lab = { ...machines, namespace: 'lab' };
const path = '/apis/kubevirt.io/v1/namespaces/lab/virtualmachineinstances';

const machine = (name) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'lab', labels: { app: 'js' } },
  spec: { domain: { devices: {}, memory: { guest: '1Gi' } } },
});

const names = (list) => list.items.map((m) => m.metadata.name);

const seen = (type, m) => [type, m.metadata.name, m.status?.phase ?? null];

// refused is the status, reason and name of an error of the API. This client keeps no body
// of a 401.
async function refused(promise) {
  try {
    await promise;
  } catch (e) {
    if (!(e instanceof k8s.ApiException)) throw e;
    const status = typeof e.body === 'string' ? JSON.parse(e.body) : e.body;
    return { status: e.code, reason: status?.reason, name: status?.details?.name };
  }
  return null;
}

async function reads() {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const paged = [];
  let pages = 0;
  let token;
  do {
    const page = await api.listClusterCustomObject({ ...machines, limit: 10, _continue: token });
    paged.push(...names(page));
    token = page.metadata.continue;
    pages++;
  } while (token);
  const stranger = new k8s.KubeConfig();
  stranger.loadFromClusterAndUser(config.getCurrentCluster(), { name: 'stranger', token: 'wrong' });
  return {
    names: names(await api.listClusterCustomObject(machines)),
    paged,
    pages,
    selected: names(await api.listNamespacedCustomObject({ ...lab, labelSelector: 'kubevirt.io/nodeName=worker-a' })),
    one: await api.getNamespacedCustomObject({ ...lab, name: 'fedora-agent' }),
    namespaces: names(await core.listNamespace()),
    nodes: names(await core.listNode()),
    missing: await refused(api.getNamespacedCustomObject({ ...lab, name: 'nosuch' })),
    forbidden: await refused(api.deleteCollectionNamespacedCustomObject(lab)),
    unknown: await refused(stranger.makeApiClient(k8s.CustomObjectsApi).listClusterCustomObject(machines)),
  };
}

async function watches() {
  const { metadata } = await api.listNamespacedCustomObject(lab);
  const events = [];
  await new Promise((done, fail) => {
    let watch;
    const saw = (type, m) => {
      events.push(seen(type, m));
      if (type === 'DELETED') watch.abort();
    };
    const ended = (e) => (events.at(-1)?.[0] === 'DELETED' ? done() : fail(e ?? new Error('the watch has ended')));
    const change = async (request) => {
      watch = request;
      await api.createNamespacedCustomObject({ ...lab, body: machine('watched') });
      await api.patchNamespacedCustomObject(
        { ...lab, name: 'watched', body: [{ op: 'add', path: '/status', value: { phase: 'Running' } }] });
      await api.deleteNamespacedCustomObject({ ...lab, name: 'watched' });
    };
    new k8s.Watch(config).watch(path, { resourceVersion: metadata.resourceVersion }, saw, ended).then(change).catch(fail);
  });
  return { events };
}

// informs says what an informer is told, until a machine of the name last is gone. Like
// the examples of this client, it starts the informer again after an error.
async function informs() {
  const say = (...what) => console.log(JSON.stringify(what));
  let lists = 0;
  let over = false;
  const informer = k8s.makeInformer(config, path, () => {
    lists++;
    return api.listNamespacedCustomObject(lab);
  });
  await new Promise((done) => {
    for (const kind of ['add', 'update', 'delete']) {
      informer.on(kind, (m) => {
        say(...seen(kind, m));
        if (kind === 'delete' && m.metadata.name === 'last') done();
      });
    }
    informer.on('error', () => {
      if (!over) setTimeout(() => informer.start(), 20);
    });
    informer.start().then(() => say('started'));
  });
  over = true;
  await informer.stop();
  return { lists, names: informer.list().map((m) => m.metadata.name).sort() };
}

async function writes() {
  const made = await objects.create(machine('written'));
  const exists = await refused(objects.create(machine('written')));
  const wrong = machine('written-wrong');
  wrong.spec.domain.cpu = { cores: 'many' };
  const merged = await objects.patch(
    { ...machine('written'), metadata: { ...machine('written').metadata, labels: { tier: 'gold' } } },
    undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch);
  const named = { apiVersion: made.apiVersion, kind: made.kind, metadata: { name: 'written', namespace: 'lab' } };
  const applied = await objects.patch(
    { ...named, metadata: { ...named.metadata, annotations: { note: 'x' } } },
    undefined, undefined, 'js', undefined, k8s.PatchStrategy.ServerSideApply);
  const replaced = await objects.replace({ ...applied, status: { phase: 'Running' } });
  const stale = await refused(objects.replace({ ...made, status: { phase: 'Failed' } }));
  const read = await objects.read(named);
  const listed = await objects.list(
    made.apiVersion, made.kind, 'lab', undefined, undefined, undefined, undefined, 'app=js');
  const deleted = await objects.delete(named);
  return {
    labels: merged.metadata.labels,
    note: applied.metadata.annotations.note,
    phase: read.status.phase,
    same: read.metadata.resourceVersion === replaced.metadata.resourceVersion,
    listed: names(listed),
    deleted: deleted.status,
    exists,
    invalid: await refused(objects.create(wrong)),
    stale,
    gone: await refused(objects.read(named)),
  };
}

const parts = { reads, watches, informs, writes };
console.log(JSON.stringify(await parts[process.argv[2]]()));
