import RecordModel
import WireProtocol

/// A row of `Scripts/bench`.
enum BenchRow: String, CaseIterable {
    case singleSave = "single-save"
    case batchOwnZone = "batch-own-zone"
    case batchOneZone = "batch-one-zone"
    case fetch
    /// The base of `save-indexed`.
    case savePlain = "save-plain"
    case saveIndexed = "save-indexed"
    case queryEquality = "query-equality"
    case querySorted = "query-sorted"
    case queryIntersection = "query-intersection"
    case queryCount = "query-count"
    case changePage = "change-page"
    /// All pages of a zone. A run counts complete fetches only.
    case firstFetch = "first-fetch"
    /// The base of `first-fetch`.
    case firstFetchFresh = "first-fetch-fresh"
    case tokenNow = "token-now"
    /// The base of `token-now`.
    case tokenNowSmall = "token-now-small"
    /// In these rows, connections listen and one more saves.
    case pushLatency = "push-latency"
    case fanOut = "fan-out"
    case followRate = "follow-rate"
    case reconnectStorm = "reconnect-storm"
    /// Connections listen, and nothing happens.
    case idleListeners = "idle-listeners"
    case assetUpload = "asset-upload"
    case assetDownload = "asset-download"
    case assetSmallUpload = "asset-small-upload"
    case assetSmallDownload = "asset-small-download"
    /// Small requests beside large files, and their base.
    case besideFetch = "asset-beside-fetch"
    case aloneFetch = "asset-alone-fetch"
    case besideSave = "asset-beside-save"
    case aloneSave = "asset-alone-save"
    case sharedSave = "shared-save"
    /// The base of `shared-save`.
    case unsharedSave = "unshared-save"
    /// Operations of the SDK.
    case sdkFetch = "sdk-fetch"
    case sdkQuery = "sdk-query"
    case sdkChanges = "sdk-changes"
    case sdkSave = "sdk-save"
    /// A whole zone through a sync engine, in both directions, and the base of each: operations that
    /// make the same requests.
    case engineFetch = "sdk-engine-fetch"
    case zoneFetch = "sdk-zone-fetch"
    case engineSend = "sdk-engine-send"
    case zoneSave = "sdk-zone-save"
    case engineMemory = "sdk-engine-memory"
    /// The base of `sdk-fetch`; those of the others are rows of their own.
    case fetchBatch = "fetch-batch"

    /// Items of every response.
    ///
    /// A run with any other number is invalid.
    var itemsPerAnswer: Int {
        switch self {
        case .singleSave, .savePlain, .saveIndexed, .fetch, .pushLatency, .fanOut, .followRate: 1
        case .reconnectStorm: 1
        case .sharedSave, .unsharedSave: 1
        case .besideFetch, .aloneFetch, .besideSave, .aloneSave: 1
        case .assetUpload, .assetDownload, .assetSmallUpload, .assetSmallDownload: 0
        case .batchOwnZone, .batchOneZone, .fetchBatch, .sdkFetch, .sdkSave: 200
        // A request counts for as many records as those of `sdk-changes` and `sdk-save` have.
        case .engineFetch, .zoneFetch, .engineSend, .zoneSave: 200
        case .sdkChanges: Changes.recordsPerPage
        case .changePage: Changes.recordsPerPage
        case .firstFetch, .firstFetchFresh: History.livingCount
        case .queryEquality: 20
        case .querySorted, .sdkQuery: 100
        case .queryIntersection: 10
        case .queryCount, .tokenNow, .tokenNowSmall, .idleListeners, .engineMemory: 0
        }
    }

    /// Whether every response ends with a token.
    var isFeed: Bool {
        switch self {
        case .changePage, .firstFetch, .firstFetchFresh, .tokenNow, .tokenNowSmall: true
        default: false
        }
    }

    /// Whether the row measures operations of the SDK.
    var isOfSDK: Bool {
        switch self {
        case .sdkFetch, .sdkQuery, .sdkChanges, .sdkSave: true
        case .engineFetch, .zoneFetch, .engineSend, .zoneSave, .engineMemory: true
        default: false
        }
    }

    /// Whether connections listen, while another one saves or nothing happens.
    var hasListeners: Bool {
        switch self {
        case .pushLatency, .fanOut, .idleListeners, .followRate, .reconnectStorm: true
        default: false
        }
    }

    /// Whether a run has few measured requests, because each takes long.
    var isLong: Bool { self == .firstFetch || self == .firstFetchFresh }

    /// The number in every response.
    var countPerAnswer: UInt64 { self == .queryCount ? 1_000 : 0 }
}

/// The requests of one connection, from a seed.
struct Requests: Sendable {
    let row: BenchRow
    private let connection: Int
    /// Positions in the feed of `Changes`; for `change-page` only.
    private let tokens: [[UInt8]]
    private var generator: SplitMix64
    /// The position of the first fetch of a zone.
    private var token: [UInt8] = []

    init(row: BenchRow, connection: Int, seed: UInt64, tokens: [[UInt8]]) {
        self.row = row
        self.connection = connection
        self.tokens = tokens
        self.generator = SplitMix64(seed: seed &* 0x9E37_79B9 &+ UInt64(connection))
    }

    /// Whether the measured operation continues with another request, which `next` returns.
    mutating func goesOn(after end: End) -> Bool {
        guard self.row.isLong, end.moreComing else {
            self.token = []
            return false
        }
        self.token = end.token
        return true
    }

    mutating func next() -> Operation {
        switch self.row {
        case .fetch:
            let id = Items.scattered(self.random(Items.sharedRecords))
            return .fetchRecords(FetchRecords(scope: .private, ids: [id]))
        case .fetchBatch:
            let count = self.row.itemsPerAnswer
            let first = self.random(Items.sharedRecords - count + 1)
            let ids = (first..<first + count).map { Items.scattered($0) }
            return .fetchRecords(FetchRecords(scope: .private, ids: ids))
        case .sdkFetch, .sdkQuery, .sdkChanges, .sdkSave, .engineFetch, .zoneFetch, .engineSend, .zoneSave,
            .engineMemory:
            preconditionFailure("the SDK makes its own requests")
        case .pushLatency, .fanOut: return Dataset.save([Listening.save])
        case .idleListeners, .followRate, .reconnectStorm:
            preconditionFailure("listeners make their own requests")
        case .besideFetch, .aloneFetch:
            let id = Files.neighbour(self.random(Files.recordCount))
            return .fetchRecords(FetchRecords(scope: .private, ids: [id]))
        case .besideSave, .aloneSave:
            return Dataset.save([Items.save(Files.neighbour(self.random(Files.recordCount)))])
        case .sharedSave, .unsharedSave:
            let number = self.random(SharedZones.recordsPerZone)
            return Dataset.save([Items.save(SharedZones.id(number, isShared: self.row == .sharedSave))])
        case .assetUpload, .assetDownload, .assetSmallUpload, .assetSmallDownload:
            preconditionFailure("files are not requests of a closed loop")
        case .singleSave:
            return Dataset.save([Items.save(Items.scattered(self.random(Items.sharedRecords)))])
        case .batchOwnZone:
            let count = self.row.itemsPerAnswer
            let first = self.random(Items.ownRecords - count + 1)
            return Dataset.save(
                (first..<first + count).map { Items.save(Items.owned($0, zone: self.connection)) }
            )
        case .batchOneZone:
            // The step is coprime to 100,000, so every record comes once before any comes twice.
            let first = self.random(Items.sharedRecords)
            let step = 10 * self.random(10_000) + 7
            return Dataset.save(
                (0..<self.row.itemsPerAnswer).map {
                    Items.save(Items.scattered((first + $0 * step) % Items.sharedRecords))
                }
            )
        case .savePlain: return self.save(.plain)
        case .saveIndexed: return self.save(.indexed)
        case .queryEquality: return Self.query(Books.byAuthor(self.random(Books.authors)))
        case .querySorted:
            let limit = self.row.itemsPerAnswer
            let minute = self.random(Books.recordCount - limit + 1)
            return Self.query(Books.published(from: minute), limit: limit)
        case .queryIntersection:
            let shelf = self.random(Books.shelves)
            let topic = Books.topic(self.random(Books.topicsPerShelf), onShelf: shelf)
            return Self.query(Books.onShelf(shelf, topic: topic))
        case .queryCount: return Self.query(Books.onShelf(self.random(Books.shelves)), isCount: true)
        case .changePage: return Changes.page(after: self.tokens[self.random(self.tokens.count)])
        case .firstFetch: return History.worn.page(after: self.token)
        case .firstFetchFresh: return History.fresh.page(after: self.token)
        case .tokenNow: return .fetchToken(FetchToken(scope: .private, zone: Books.zone))
        case .tokenNowSmall: return .fetchToken(FetchToken(scope: .private, zone: Books.branch))
        }
    }

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.generator) }

    private mutating func save(_ notes: Notes) -> Operation {
        let number = self.random(Notes.recordCount)
        return Dataset.save([notes.record(number, using: &self.generator)])
    }

    private static func query(_ query: Query, limit: Int = 0, isCount: Bool = false) -> Operation {
        .queryRecords(
            QueryRecords(
                scope: .private,
                start: .query(query, zone: Books.zone),
                limit: UInt32(limit),
                isCount: isCount
            )
        )
    }
}
