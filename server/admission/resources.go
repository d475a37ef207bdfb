package admission

const (
	requests = "spec.domain.resources.requests."
	limits   = "spec.domain.resources.limits."
	guest    = "spec.domain.memory.guest"
	pageSize = "spec.domain.memory.hugepages.pageSize"
)

// memoryCauses are the amounts of memory that no machine can have.
func memoryCauses(spec map[string]any) []Cause {
	var causes []Cause
	resources := child(spec, "domain", "resources")
	asked, limit := amount(child(resources, "requests"), "memory"), amount(child(resources, "limits"), "memory")
	least, _ := parseQuantity("1M")
	switch {
	case asked.sign() < 0:
		causes = append(causes, notNegative(requests+"memory", asked))
	case asked.sign() > 0 && asked.cmp(least) < 0:
		causes = append(causes, invalid(requests+"memory", "%s '%s': must be greater than or equal to 1M.", requests+"memory", asked.text))
	}
	if limit.sign() < 0 {
		causes = append(causes, notNegative(limits+"memory", limit))
	}
	if limit.sign() > 0 && asked.cmp(limit) > 0 {
		causes = append(causes, aboveLimit("memory", asked, limit))
	}
	return append(causes, hugepagesCauses(spec, asked, limit)...)
}

func notNegative(field string, q quantity) Cause {
	return invalid(field, "%s '%s': must be greater than or equal to 0.", field, q.text)
}

func aboveLimit(resource string, asked, limit quantity) Cause {
	return invalid(requests+resource, "%s '%s' is greater than %s '%s'", requests+resource, asked.text, limits+resource, limit.text)
}

// hugepagesCauses: memory comes in whole pages.
func hugepagesCauses(spec map[string]any, asked, limit quantity) []Cause {
	pages := child(spec, "domain", "memory", "hugepages")
	if pages == nil {
		return nil
	}
	written := text(pages, "pageSize")
	size, ok := parseQuantity(written)
	if !ok {
		return []Cause{invalid(pageSize, "%s '%s': %s", pageSize, written, quantityProblem(written))}
	}
	memory := asked.whole()
	if memory == 0 {
		memory = amount(child(spec, "domain", "memory"), "guest").whole()
	}
	if memory == 0 {
		memory = limit.whole()
	}
	switch {
	case memory != 0 && memory < size.whole():
		return []Cause{invalid(requests+"memory", "%s '%s' must be equal to or larger than page size %s '%s'", requests+"memory", asked.text, pageSize, written)}
	case size.whole() != 0 && memory%size.whole() != 0:
		return []Cause{invalid(requests+"memory", "%s '%s' is not a multiple of the page size %s '%s'", requests+"memory", asked.text, pageSize, written)}
	}
	return nil
}

// cpuCauses are the amounts and settings of CPUs that contradict each other.
func cpuCauses(spec map[string]any) []Cause {
	var causes []Cause
	resources, cpu := child(spec, "domain", "resources"), child(spec, "domain", "cpu")
	asked, limit := amount(child(resources, "requests"), "cpu"), amount(child(resources, "limits"), "cpu")
	if asked.sign() < 0 {
		causes = append(causes, notNegative(requests+"cpu", asked))
	}
	if limit.sign() < 0 {
		causes = append(causes, notNegative(limits+"cpu", limit))
	}
	if limit.sign() > 0 && asked.cmp(limit) > 0 {
		causes = append(causes, aboveLimit("cpu", asked, limit))
	}
	if isTrue(cpu, "isolateEmulatorThread") && !isTrue(cpu, "dedicatedCpuPlacement") {
		causes = append(causes, invalid("spec.domain.cpu.isolateEmulatorThread",
			"IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement"))
	}
	if most := integer(cpu, "maxSockets"); most != 0 && integer(cpu, "sockets") > most {
		causes = append(causes, invalid("spec.domain.cpu.sockets", "Number of sockets in CPU topology is greater than the maximum sockets allowed"))
	}
	return causes
}

// missingMemory refuses the machine that nobody has given any.
func missingMemory(spec map[string]any) []Cause {
	domain := child(spec, "domain")
	memory := child(domain, "memory")
	if amount(child(domain, "resources", "requests"), "memory").whole() != 0 || has(memory, "guest") || has(memory, "hugepages") {
		return nil
	}
	return []Cause{required("", "no memory requested, at least one of '%s', '%s' or '%s' must be set", guest, pageSize, requests+"memory")}
}
