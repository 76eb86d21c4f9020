import RecordModel
import StorageContract
import Synchronization
import WireProtocol

/// Counters for operators, incremented where the event happens.
///
/// A request costs three additions to memory and no lock. A class, so that a request copies none of
/// it.
final class ServerMetrics: Sendable {
    private final class Operation: Sendable {
        let started = Atomic<Int64>(0)
        let durations = DurationHistogram()
    }

    private let connectionsOpened = Atomic<Int64>(0)
    private let connectionsRefused = Atomic<Int64>(0)
    private let connectionsOpen = Atomic<Int>(0)
    /// In the order of their numbers.
    private let operations = OperationKind.allCases.map { _ in Operation() }
    private let failures = FailureCounts()
    private let listeners = Atomic<Int>(0)
    private let notificationsSent = Atomic<Int64>(0)
    private let notificationsCoalesced = Atomic<Int64>(0)
    private let detailsDropped = Atomic<Int64>(0)
    private let comparisons = Atomic<Int64>(0)
    private let hintsForCost = Atomic<Int64>(0)
    private let assetBytesIn = Atomic<Int64>(0)
    private let assetBytesOut = Atomic<Int64>(0)
    private let assetsStored = Atomic<Int64>(0)
    private let assetsRemoved = Atomic<Int64>(0)
    private let assetsDamaged = Atomic<Int64>(0)

    func connectionOpened(now open: Int) {
        self.connectionsOpened.add(1, ordering: .relaxed)
        self.connectionsOpen.store(open, ordering: .relaxed)
    }

    func connectionClosed(now open: Int) {
        self.connectionsOpen.store(open, ordering: .relaxed)
    }

    func connectionRefused() {
        self.connectionsRefused.add(1, ordering: .relaxed)
    }

    func requestStarted(_ operation: OperationKind) {
        self.operations[operation.number].started.add(1, ordering: .relaxed)
    }

    /// The last frame of a response was written.
    func requestEnded(_ operation: OperationKind, nanoseconds: Int64) {
        self.operations[operation.number].durations.record(nanoseconds: nanoseconds)
    }

    func listeners(now listeners: Int) {
        self.listeners.store(listeners, ordering: .relaxed)
    }

    func notificationsSent(_ count: Int) {
        self.notificationsSent.add(Int64(count), ordering: .relaxed)
    }

    /// Notifications that were replaced by a later one of their subscription, because the listener
    /// had too many unacknowledged.
    func notificationsCoalesced(_ count: Int) {
        self.notificationsCoalesced.add(Int64(count), ordering: .relaxed)
    }

    /// Counts a transaction that listeners learn of without its details.
    func notificationDetailsDropped() {
        self.detailsDropped.add(1, ordering: .relaxed)
    }

    /// Adds the router's counts.
    func routed(_ counts: NotificationRouting.Counts) {
        if counts.comparisons > 0 { self.comparisons.add(Int64(counts.comparisons), ordering: .relaxed) }
        if counts.news > 0 { self.hintsForCost.add(Int64(counts.news), ordering: .relaxed) }
    }

    func assetBytesReceived(_ count: Int) {
        self.assetBytesIn.add(Int64(count), ordering: .relaxed)
    }

    func assetBytesSent(_ count: Int) {
        self.assetBytesOut.add(Int64(count), ordering: .relaxed)
    }

    func assetStored() {
        self.assetsStored.add(1, ordering: .relaxed)
    }

    func assetsRemoved(_ count: Int) {
        self.assetsRemoved.add(Int64(count), ordering: .relaxed)
    }

    func assetDamaged() { self.assetsDamaged.add(1, ordering: .relaxed) }

    /// Counts a failure, of an item or of a request.
    func failed(_ code: ErrorCode) {
        self.failures.add(code)
    }

    /// Everything that is counted here.
    var readings: [Metric] {
        let requests = zip(OperationKind.allCases, self.operations).map { kind, operation in
            Metric.Sample(
                labels: [("operation", kind.rawValue)],
                value: .number(Double(operation.started.load(ordering: .relaxed)))
            )
        }
        let durations = zip(OperationKind.allCases, self.operations).map { kind, operation in
            Metric.Sample(
                labels: [("operation", kind.rawValue)],
                value: .durations(operation.durations.reading)
            )
        }
        let failures = self.failures.readings.map { name, count in
            Metric.Sample(labels: [("code", name)], value: .number(Double(count)))
        }
        return [
            self.reading(.connectionsOpened, self.connectionsOpened),
            self.reading(.connectionsRefused, self.connectionsRefused),
            Metric(.connectionsOpen, self.connectionsOpen.load(ordering: .relaxed)),
            Metric(.requests, samples: requests),
            Metric(.requestDuration, samples: durations),
            Metric(.failures, samples: failures),
            Metric(.listeners, self.listeners.load(ordering: .relaxed)),
            self.reading(.notificationsSent, self.notificationsSent),
            self.reading(.notificationsCoalesced, self.notificationsCoalesced),
            self.reading(.notificationDetailsDropped, self.detailsDropped),
            self.reading(.subscriptionComparisons, self.comparisons),
            self.reading(.subscriptionHints, self.hintsForCost),
            self.reading(.assetReceivedBytes, self.assetBytesIn),
            self.reading(.assetSentBytes, self.assetBytesOut),
            self.reading(.assetsStored, self.assetsStored),
            self.reading(.assetsRemoved, self.assetsRemoved),
            self.reading(.assetsDamaged, self.assetsDamaged),
        ]
    }

    private func reading(_ name: MetricName, _ count: borrowing Atomic<Int64>) -> Metric {
        Metric(name, Double(count.load(ordering: .relaxed)))
    }
}

extension LoadFigures {
    /// The engine's queue and its promises.
    var readings: [Metric] {
        [
            Metric(.reservationsGiven, Double(self.reservationsGiven)),
            Metric(.reservationsKept, Double(self.reservationsKept)),
            Metric(.requestsWaiting, self.requestsWaiting),
            Metric(.waitingBytes, self.bytesWaiting),
        ]
    }
}

extension EngineStatistics {
    /// Counts and measurements of the engine.
    var readings: [Metric] {
        [
            Metric(.commits, Double(self.commits)),
            Metric(.requestsCommitted, Double(self.requestsCommitted)),
            Metric(.recordsWritten, Double(self.recordsWritten)),
            Metric(.requestsReplayed, Double(self.requestsReplayed)),
            Metric(.requestsRefused, Double(self.requestsRefused)),
            Metric(.logSyncDuration, samples: [.init(labels: [], value: .durations(self.logSyncs))]),
            Metric(.databaseBytes, Double(self.databaseBytes)),
            Metric(.databaseLogBytes, Double(self.databaseLogBytes)),
            Metric(.databaseUnsafeSettings, self.unsafeSettings),
            Metric(.diskReserveMissingBytes, Double(self.reserveMissingBytes)),
            Metric(.damagedPageReads, Double(self.damagedReads)),
        ]
    }
}

extension StorageCondition {
    /// Whether the disk fails; a full disk is not a failure.
    var readings: [Metric] {
        guard case .fails = self else { return [Metric(.diskFailing, 0)] }
        return [Metric(.diskFailing, 1)]
    }
}

extension StoredAmount {
    /// Totals of all containers.
    var readings: [Metric] {
        [
            Metric(.records, Double(self.records)), Metric(.recordBytes, Double(self.recordBytes)),
            Metric(.assets, Double(self.assets)), Metric(.assetBytes, Double(self.assetBytes)),
            Metric(.rowBytes, Double(self.rowBytes)),
        ]
    }
}
