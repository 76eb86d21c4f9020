/// An action of a connection.
///
/// A workload is one of them, or a mix.
enum Step: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case save
    case saveBatch = "save-batch"
    case delete
    case fetch
    case query
    case changes
    /// A save, until its notification arrives.
    case push
    /// Uploads a file and saves the record that names it, or downloads one.
    case assets
    /// A save of one device, until each other device has fetched it.
    case sync

    /// The kinds of requests under which its latencies are recorded.
    var allMeasured: [Measured] {
        switch self {
        case .save: [.save]
        case .saveBatch: [.saveBatch]
        case .delete: [.delete]
        case .fetch: [.fetch]
        case .query: [.query]
        case .changes: [.changes]
        case .push: [.push]
        case .assets: [.upload, .download]
        case .sync: [.sync]
        }
    }
}

/// The kinds of requests with recorded latencies.
enum Measured: String, CaseIterable, Codable, CodingKeyRepresentable, Comparable, Sendable {
    case save
    case saveBatch = "save-batch"
    case delete
    case fetch
    case query
    case changes
    case push
    case upload
    case download
    case sync

    static func < (left: Measured, right: Measured) -> Bool {
        let all = Self.allCases
        return all.firstIndex(of: left) ?? 0 < all.firstIndex(of: right) ?? 0
    }
}
