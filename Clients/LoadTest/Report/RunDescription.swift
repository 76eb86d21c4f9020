import Foundation

/// A run in words.
///
/// Options that do not apply are left out.
struct RunDescription {
    let result: LoadResult

    var rows: [(name: String, text: String)] {
        self.location + self.load + self.sizes + self.conduct
    }

    private var plan: LoadPlan { self.result.plan }

    private var location: [(name: String, text: String)] {
        let context = self.result.context
        let memory = Digits.fixed(Double(context.memoryBytes) / 1_073_741_824, 1)
        return [
            ("began", self.result.startedAt.formatted(.iso8601)),
            ("server", "\(context.server) at \(context.address)"),
            ("container", "\(context.container), \(context.environment)"),
            (
                "load from",
                "\(context.host): \(context.processors) processors, \(memory) GiB, \(context.system)"
            ),
            ("tidemark-load", context.version), ("command", context.commandLine),
        ]
    }

    private var load: [(name: String, text: String)] {
        let plan = self.plan
        let arrivals = plan.arrivals == .poisson ? "like independent users (Poisson)" : "at even intervals"
        var rows: [(name: String, text: String)] = []
        if let rate = plan.rate {
            rows.append(
                (
                    "load",
                    "\(Digits.rate(rate)) requests per second, \(arrivals), whether or not the server keeps up"
                )
            )
        } else {
            rows.append(
                ("load", "each connection sends its next request when it has the response to the last")
            )
        }
        if plan.workload == "mix" {
            let weights = plan.mix.weights.sorted {
                ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue)
            }
            rows.append(("mix", weights.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")))
        }
        let processes = plan.processes > 1 ? ", in \(plan.processes) processes" : ""
        let users = min(self.result.context.users, plan.connections)
        let unanswered = plan.underWayMax == 1 ? "one request" : "up to \(plan.underWayMax) requests"
        rows.append(
            (
                "connections",
                "\(Digits.count(plan.connections * plan.processes)) of \(Digits.count(users)) users\(processes); "
                    + "\(unanswered) in flight on each"
            )
        )
        rows.append(
            (
                "time",
                "\(Digits.fixed(self.result.measuredSeconds, 1)) s measured, after "
                    + "\(Digits.fixed(plan.warmUpSeconds, 1)) s of warm-up; a request fails after "
                    + "\(Digits.rate(plan.timeoutSeconds)) s"
            )
        )
        return rows
    }

    private var sizes: [(name: String, text: String)] {
        let plan = self.plan
        let keys =
            switch plan.distribution {
            case .uniform: "each as likely as any other"
            case .zipfian: "few of them often, by Zipf's law"
            case .latest: "those that were saved last, most often"
            }
        var rows = [
            (
                name: "records",
                text:
                    "\(Digits.count(plan.records * plan.processes)) of \(Digits.count(plan.recordBytes)) bytes, "
                    + "\(keys), in \(Digits.count(plan.zones)) zones of each user"
            )
        ]
        if plan.mix.has(.saveBatch) {
            rows.append(("batch", "\(Digits.count(plan.batch)) records, all or none"))
        }
        if plan.mix.has(.changes) { rows.append(("page of changes", "\(Digits.count(plan.page)) records")) }
        if plan.mix.has(.assets) { rows.append(("file", "\(Digits.count(plan.assetBytes)) bytes")) }
        return rows
    }

    private var conduct: [(name: String, text: String)] {
        let plan = self.plan
        var rows: [(name: String, text: String)] = []
        if plan.retries { rows.append(("rejections", "sent again at the time that the server names")) }
        if let chaos = plan.chaos {
            rows.append(("chaos", "\(chaos), every \(Digits.rate(plan.chaosIntervalSeconds)) s"))
        }
        rows.append(("verified", plan.verifies ? "every record, by three readings" : "no"))
        rows.append(("seed", "\(plan.seed)"))
        if plan.keepsZones { rows.append(("afterwards", "the zones load-\(plan.run)-… stay")) }
        return rows
    }
}
