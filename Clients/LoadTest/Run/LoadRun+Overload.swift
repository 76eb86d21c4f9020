import Foundation

extension LoadRun {
    /// Requests as much as the server can do, then more, then less.
    ///
    /// - Returns: The measurements of the overload.
    func overload(_ test: OverloadTest, _ clients: Clients) async -> LoadResult {
        var figures = OverloadFigures()
        var overload: (result: LoadResult, outcome: Stage.Outcome)?
        for part in [OverloadTest.Part.usual, .overload, .afterwards] {
            let startedAt = Date()
            let start = ContinuousClock.now
            let rate = test.rate(of: part)
            self.live.say("\(part.rawValue): \(Digits.rate(rate)) per second")
            var stage = self.stage(clients, rate: rate, live: self.live)
            if part == .afterwards {
                stage.warmUp = .zero
                stage.duration = .seconds(OverloadTest.afterwardsSeconds)
            }
            let outcome = await stage.run(at: .now)
            let result = self.result(startedAt, outcome)
            figures.add(outcome)
            figures.steps.append(OverloadFigures.Step(part, rate: rate, result))
            if let last = outcome.measurements.lastFailureSeconds {
                if part == .overload { figures.recoverySeconds = max(0, last - outcome.seconds) }
                if part == .afterwards, let before = overload?.outcome.loadEnded {
                    figures.recoverySeconds = (start - before).seconds + last
                }
            }
            if part == .overload || overload == nil { overload = (result, outcome) }
            if outcome.isInterrupted {
                overload?.result.isInterrupted = true
                break
            }
        }
        guard var result = overload?.result else { preconditionFailure("an overload without a part") }
        result.overload = figures
        return result
    }
}
