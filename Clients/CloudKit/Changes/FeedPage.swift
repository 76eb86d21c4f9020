import RecordModel

internal import Foundation
internal import WireProtocol

/// A page of a feed.
protocol FeedPage: BatchRequest {
    /// The token to continue from; empty for the beginning of the feed.
    var token: [UInt8] { get }

    /// Returns the page that continues from a token.
    func following(_ token: CKServerChangeToken) -> Self
}

extension FeedPage {
    // No item of a feed fails.
    static var partialFailureText: String { "Failed to fetch some changes" }

    var itemCount: Int? { nil }

    /// Returns the limit to send; `nil`, 0 and less leave it to the server.
    static func limit(_ resultsLimit: Int?) -> UInt32 { UInt32(clamping: resultsLimit ?? 0) }
}

/// The contents of a page of a feed, and the token for the next page.
struct FeedPageContent<Page: FeedPage>: Sendable {
    var results: [Page.ItemResult]
    var token: CKServerChangeToken
    var moreComing: Bool
    /// The zone's `clientChangeTokenData`; `nil` if there is none.
    var clientTokenData: Data?

    /// - Throws: `internalError` if the end of the response breaks the rules of a feed.
    init(_ results: [Page.ItemResult], of page: Page, end: End) throws(CKError) {
        self.results = results
        self.token = try end.changeToken
        self.moreComing = end.moreComing
        self.clientTokenData = end.clientToken.isEmpty ? nil : Data(end.clientToken)
        // A reader that asked on until the end would never stop.
        guard !self.moreComing || !results.isEmpty || self.token.bytes != page.token else {
            throw .feedStandsStill
        }
    }
}

extension End {
    /// The token at the end of a page.
    var changeToken: CKServerChangeToken {
        get throws(CKError) {
            guard !self.token.isEmpty else { throw .resultOfAnotherKind }
            return CKServerChangeToken(bytes: self.token)
        }
    }
}

extension CKError {
    static var feedStandsStill: CKError {
        .local(.internalError, "The server promises more changes but makes no progress")
    }
}
