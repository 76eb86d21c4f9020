import Synchronization
import Testing

@testable import CloudKit

struct `The progress of a record's files` {
    private final class Told: Sendable {
        let fractions = Mutex<[Double]>([])
        let steps = Mutex<[@Sendable () -> Void]>([])

        func meter(isSlow: Bool = false) -> TransferMeter {
            TransferMeter(
                run: { step in
                    if isSlow { self.steps.withLock { $0.append(step) } } else { step() }
                },
                report: { fraction in self.fractions.withLock { $0.append(fraction) } }
            )
        }

        var all: [Double] { self.fractions.withLock { $0 } }
    }

    private let start = ContinuousClock.now

    @Test func `never goes back, and says nothing of all of it`() {
        let told = Told()
        let meter = told.meter()
        for (index, done) in [0, 10, 5, 10, 20, 99, 100, 100].enumerated() {
            meter.moved(Int64(done), of: 100, now: self.start + .seconds(index))
        }
        #expect(told.all == [0, 0.1, 0.2, 0.99])
    }

    @Test func `is reported at most ten times a second`() {
        let told = Told()
        let meter = told.meter()
        for millisecond in 0..<1_000 {
            meter.moved(Int64(millisecond), of: 1_000, now: self.start + .milliseconds(millisecond))
        }
        #expect(told.all.count == 10)
    }

    @Test func `is reported as it is when the receiver was busy`() {
        let told = Told()
        let meter = told.meter(isSlow: true)
        for second in 1...5 { meter.moved(Int64(second), of: 10, now: self.start + .seconds(second)) }
        let steps = told.steps.withLock { $0 }
        #expect(steps.count == 1)
        for step in steps { step() }
        #expect(told.all == [0.5])
    }

    @Test func `of nothing is not reported`() {
        let told = Told()
        told.meter().moved(0, of: 0)
        #expect(told.all.isEmpty)
    }
}
