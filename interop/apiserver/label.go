package apiserver

import "math/rand/v2"

// labels are the keys of a fleet with the values to draw from; absent is no label.
// They are drawn one by one, so that none follows from another, and have what
// selectors get wrong: an empty value, values of which one begins with the other
// or differs in case, a key with a prefix, numbers.
var labels = []struct {
	key    string
	values []string
}{
	{"app", []string{"web", "web", "web-canary", "db", "cache", absent}},
	{"tier", []string{"gold", "silver", absent, absent}},
	{"example.com/owner", []string{"team-a", "Team-A", "team-b", absent}},
	{"kubevirt.io/nodeName", []string{"node-1", "node-2", "node-3", absent}},
	{"kubevirt.io/outdatedLauncherImage", []string{"", absent, absent, absent}},
	{"rank", []string{"1", "2", "10", absent}},
}

const absent = "-" // no value of a label begins so

func drawLabels(random *rand.Rand) map[string]string {
	drawn := make(map[string]string)
	for _, label := range labels {
		if value := label.values[random.IntN(len(label.values))]; value != absent {
			drawn[label.key] = value
		}
	}
	return drawn
}

// drawChange returns one label and its new value, nil when it is to be removed.
func drawChange(random *rand.Rand) map[string]any {
	label := labels[random.IntN(len(labels))]
	if value := label.values[random.IntN(len(label.values))]; value != absent {
		return map[string]any{label.key: value}
	}
	return map[string]any{label.key: nil}
}
