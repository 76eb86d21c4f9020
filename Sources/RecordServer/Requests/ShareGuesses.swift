import RecordModel
import RecordStore
import StorageContract
import Synchronization
import WireProtocol

// Requests that resolve URLs of shares are counted: see `GuessPace`.
extension AdmittedRequest {
    /// Tokens of share URLs in the request.
    var shareTokens: ShareTokens? {
        switch self {
        case .fetchShareMetadata(let fetch, let requester):
            return ShareTokens(count: fetch.tokens.count, user: requester.userRecordName ?? "")
        case .write(let write):
            let user = write.requester.userRecordName ?? ""
            switch write.operation {
            case .acceptShares(let accept): return ShareTokens(count: accept.tokens.count, user: user)
            case .requestShareAccess(let request):
                return ShareTokens(count: request.tokens.count, user: user)
            case .modifyRecords, .modifyZones, .modifySubscriptions: return nil
            }
        case .fetchRecords, .fetchZones, .query, .feed, .checkSchema, .fetchSubscriptions, .listen,
            .fetchShareParticipants, .explain, .upload, .download:
            return nil
        }
    }
}

/// The number of share URLs that a request asks for, and its user.
struct ShareTokens: Sendable {
    let count: Int
    let user: String
}

extension ServerContext {
    /// The failure of a request that exceeds the pace.
    ///
    /// - Returns: `nil` if it may be executed; then its response is to be counted.
    func refusal(of tokens: ShareTokens) -> Failure? {
        let now = self.clock()
        let wait = self.guesses.withLock { $0.asked(tokens.count, by: tokens.user, nowMilliseconds: now) }
        return wait.map {
            Failure(
                code: .requestRateLimited,
                message: "too many URLs that lead to no share: ask for others later",
                retry: .after(milliseconds: $0)
            )
        }
    }

    /// Counts the tokens that resolved to no share.
    func count(_ outcomes: Result<Outcomes, StoreError>, of tokens: ShareTokens) {
        let misses =
            switch outcomes {
            case .success(.written(let written)): written.count { $0 == .failed(.shareMissing) }
            case .success(.read(let read)): read.count { $0 == .failed(.shareMissing) }
            case .success, .failure: 0
            }
        self.count(misses: misses, of: tokens)
    }

    private func count(misses: Int, of tokens: ShareTokens) {
        let now = self.clock()
        self.guesses.withLock {
            $0.answered(tokens.count, misses: misses, by: tokens.user, nowMilliseconds: now)
        }
    }
}
