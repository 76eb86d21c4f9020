import WireProtocol

@testable import CloudKit

extension ResultTally {
    /// Reads the items of a request, one list after the other, from a server that is never asked.
    static func reading(
        _ lists: [Item]...,
        of request: Request
    ) throws -> (tally: ResultTally<Request>, results: [[Request.ItemResult]]) {
        let session = try CKContainer.unreachable().access.session()
        let attempt = RequestAttempt(request: request, roles: request.roles, session: session, user: "_me")
        var tally = ResultTally<Request>()
        tally.begin(attempt)
        let results = lists.map { tally.read($0, of: attempt) }
        return (tally, results)
    }
}
