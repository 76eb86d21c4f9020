import Foundation
import RecordModel
import RecordServer

/// Metrics of this process and its disk, from the system.
enum ProcessMetrics {
    static var readings: [Metric] {
        var metrics: [Metric] = []
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            metrics.append(Metric(.processCPU, self.seconds(usage.ru_utime) + self.seconds(usage.ru_stime)))
        }
        // `proc_pid_statm(5)`: the second number counts resident pages.
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        if let pages, pages.count > 1, let resident = Int(pages[1]) {
            metrics.append(Metric(.processMemory, resident * Int(sysconf(Int32(_SC_PAGESIZE)))))
        }
        return metrics
    }

    static var build: Metric {
        #if arch(x86_64)
        let architecture = "x86_64"
        #elseif arch(arm64)
        let architecture = "arm64"
        #else
        let architecture = "other"
        #endif
        let labels: [(name: String, value: String)] = [
            ("version", Release.version), ("configuration", Release.build), ("architecture", architecture),
        ]
        return Metric(.buildInfo, samples: [Metric.Sample(labels: labels, value: .number(1))])
    }

    /// Empty if the system does not tell.
    static func freeBytes(at path: String) -> [Metric] {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return [] }
        return [Metric(.diskFreeBytes, Double(status.f_bavail) * Double(status.f_frsize))]
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
