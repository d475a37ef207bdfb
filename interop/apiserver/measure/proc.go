package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, whatever the kernel's own is (USER_HZ).
const tick = 10 * time.Millisecond

// cpuOf is the CPU time that a process has used, in user space and in the kernel.
func cpuOf(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may have spaces.
	_, after, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(after)
	const user, system = 14 - 3, 15 - 3 // proc_pid_stat(5) counts from 1, and the name is the second.
	if len(fields) <= system {
		return 0, fmt.Errorf("%s: %d fields", path, len(fields))
	}
	var sum time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

// memoryOf is the resident memory of a process now, and the most that it had, in MiB.
func memoryOf(pid int) (now, most float64, err error) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	for _, want := range []struct {
		name string
		to   *float64
	}{{"VmRSS", &now}, {"VmHWM", &most}} {
		value, err := lineOf(path, want.name)
		if err != nil {
			return 0, 0, err
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(value, " kB"), 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %s: %w", path, want.name, err)
		}
		*want.to = kib / 1024
	}
	return now, most, nil
}

// processor is the model of the CPU.
func processor() string {
	name, err := lineOf("/proc/cpuinfo", "model name")
	if err != nil {
		return "unknown processor"
	}
	return name
}

// loadAverage is that of the last minute: what else the machine does, and what was
// measured in it.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	minute, _, _ := strings.Cut(string(data), " ")
	return minute
}

// lineOf is the value of the first line "name: value" of a file.
func lineOf(path, name string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", path, name)
}
