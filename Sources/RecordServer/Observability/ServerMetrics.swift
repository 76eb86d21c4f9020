import Metrics
import RecordStore
import Synchronization
import WireProtocol

/// What operators graph.
///
/// Made once a server: a counter is looked up by its label only here. A class, so that a request copies none of them.
final class ServerMetrics: Sendable {
    private let connectionsOpened = Counter(label: "tidemark_connections_opened")
    private let connectionsRefused = Counter(label: "tidemark_connections_refused")
    private let connectionsOpen = Meter(label: "tidemark_connections_open")
    private let modifyRecords = requestCounter(.modifyRecords)
    private let fetchRecords = requestCounter(.fetchRecords)
    private let modifyZones = requestCounter(.modifyZones)
    private let fetchZones = requestCounter(.fetchZones)
    private let queryRecords = requestCounter(.queryRecords)
    private let checkSchema = requestCounter(.checkSchema)
    private let fetchChanges = requestCounter(.fetchChanges)
    private let fetchDatabaseChanges = requestCounter(.fetchDatabaseChanges)
    private let fetchToken = requestCounter(.fetchToken)
    private let modifySubscriptions = requestCounter(.modifySubscriptions)
    private let fetchSubscriptions = requestCounter(.fetchSubscriptions)
    private let listen = requestCounter(.listen)
    private let uploadAssets = requestCounter(.uploadAssets)
    private let downloadAssets = requestCounter(.downloadAssets)
    private let acceptShares = requestCounter(.acceptShares)
    private let fetchShareMetadata = requestCounter(.fetchShareMetadata)
    private let fetchShareParticipants = requestCounter(.fetchShareParticipants)
    private let requestShareAccess = requestCounter(.requestShareAccess)
    private let listeners = Meter(label: "tidemark_listeners")
    private let notificationsSent = Counter(label: "tidemark_notifications_sent")
    private let notificationsCoalesced = Counter(label: "tidemark_notifications_coalesced")
    private let detailsDropped = Counter(label: "tidemark_notification_details_dropped")
    private let assetBytesIn = Counter(label: "tidemark_asset_bytes_received")
    private let assetBytesOut = Counter(label: "tidemark_asset_bytes_sent")
    private let assetsStored = Counter(label: "tidemark_assets_stored")
    private let assetsRemoved = Counter(label: "tidemark_assets_removed")
    private let uploadsReceiving = Meter(label: "tidemark_uploads_receiving")
    private let uploadsWaiting = Meter(label: "tidemark_uploads_waiting")
    private let commits = Meter(label: "tidemark_commits")
    private let requestsCommitted = Meter(label: "tidemark_requests_committed")
    private let recordsWritten = Meter(label: "tidemark_records_written")
    private let requestsReplayed = Meter(label: "tidemark_requests_replayed")
    private let requestsRefused = Meter(label: "tidemark_requests_refused")
    private let reservationsGiven = Meter(label: "tidemark_reservations_given")
    private let reservationsKept = Meter(label: "tidemark_reservations_kept")
    private let requestsWaiting = Meter(label: "tidemark_requests_waiting")
    private let bytesWaiting = Meter(label: "tidemark_bytes_waiting")
    /// Those that were counted: who has too much to do refuses ten thousand requests a second.
    private let failures = Mutex<[ErrorCode: Counter]>([:])

    private static func requestCounter(_ operation: OperationKind) -> Counter {
        Counter(label: "tidemark_requests", dimensions: [("operation", operation.rawValue)])
    }

    func connectionOpened(now open: Int) {
        self.connectionsOpened.increment()
        self.connectionsOpen.set(open)
    }

    func connectionClosed(now open: Int) {
        self.connectionsOpen.set(open)
    }

    func connectionRefused() {
        self.connectionsRefused.increment()
    }

    func requestStarted(_ operation: OperationKind) {
        switch operation {
        case .modifyRecords: self.modifyRecords.increment()
        case .fetchRecords: self.fetchRecords.increment()
        case .modifyZones: self.modifyZones.increment()
        case .fetchZones: self.fetchZones.increment()
        case .queryRecords: self.queryRecords.increment()
        case .checkSchema: self.checkSchema.increment()
        case .fetchChanges: self.fetchChanges.increment()
        case .fetchDatabaseChanges: self.fetchDatabaseChanges.increment()
        case .fetchToken: self.fetchToken.increment()
        case .modifySubscriptions: self.modifySubscriptions.increment()
        case .fetchSubscriptions: self.fetchSubscriptions.increment()
        case .listen: self.listen.increment()
        case .uploadAssets: self.uploadAssets.increment()
        case .downloadAssets: self.downloadAssets.increment()
        case .acceptShares: self.acceptShares.increment()
        case .fetchShareMetadata: self.fetchShareMetadata.increment()
        case .fetchShareParticipants: self.fetchShareParticipants.increment()
        case .requestShareAccess: self.requestShareAccess.increment()
        }
    }

    func listeners(now listeners: Int) {
        self.listeners.set(listeners)
    }

    func notificationsSent(_ count: Int) {
        self.notificationsSent.increment(by: count)
    }

    /// Those that a later one of their subscription took the place of, because a listener had not acknowledged enough.
    func notificationsCoalesced(_ count: Int) {
        self.notificationsCoalesced.increment(by: count)
    }

    /// A transaction of which listeners learn only that there was something.
    func notificationDetailsDropped() {
        self.detailsDropped.increment()
    }

    func assetBytesReceived(_ count: Int) {
        self.assetBytesIn.increment(by: count)
    }

    func assetBytesSent(_ count: Int) {
        self.assetBytesOut.increment(by: count)
    }

    func assetStored() {
        self.assetsStored.increment()
    }

    func assetsRemoved(_ count: Int) {
        self.assetsRemoved.increment(by: count)
    }

    func record(_ uploads: (receiving: Int, waiting: Int)) {
        self.uploadsReceiving.set(uploads.receiving)
        self.uploadsWaiting.set(uploads.waiting)
    }

    /// A failure, of an item or of a request.
    func failed(_ code: ErrorCode) {
        let counter = self.failures.withLock { counters in
            if let known = counters[code] { return known }
            let counter = Counter(label: "tidemark_failures", dimensions: [("code", "\(code.rawValue)")])
            counters[code] = counter
            return counter
        }
        counter.increment()
    }

    func record(_ statistics: EngineStatistics) {
        self.commits.set(Double(statistics.commits))
        self.requestsCommitted.set(Double(statistics.requestsCommitted))
        self.recordsWritten.set(Double(statistics.recordsWritten))
        self.requestsReplayed.set(Double(statistics.requestsReplayed))
        self.requestsRefused.set(Double(statistics.requestsRefused))
        self.reservationsGiven.set(Double(statistics.reservationsGiven))
        self.reservationsKept.set(Double(statistics.reservationsKept))
        self.requestsWaiting.set(statistics.requestsWaiting)
        self.bytesWaiting.set(statistics.bytesWaiting)
    }
}
