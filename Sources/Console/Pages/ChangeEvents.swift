import HTTPTypes
import Hummingbird
import NIOCore
import RecordJSON
import RecordModel
import RecordStore
import ServiceLifecycle

/// Changes as they come, as server-sent events.
///
/// An event is a JSON object with the token behind it, and an array of changes that the script
/// adds as rows.
extension ChangePages {
    /// Between two lines that keep the connection from looking dead.
    private static let silenceMax = Duration.seconds(15)

    func changeEvents(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let reader = try await self.console.reader(of: place)
        guard let token = (request.lastEventID ?? request.query["token"]).flatMap({ TokenText.bytes($0) })
        else {
            throw PageFailure.invalid("The page has no token.")
        }
        let feed = ChangeFeed(reader: reader, zone: self.console.zone(request.query))
        let people = try await self.console.people(of: place)
        // An invalid token fails the request at once, with a status.
        let first = try await feed.page(after: token, fromNow: false)
        let interval = self.console.configuration.changesInterval
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8"],
            body: ResponseBody { writer in
                var page = first
                var silence = Duration.zero
                try await writer.write(ByteBuffer(string: ": changes\n\n"))
                while !Task.isShuttingDownGracefully {
                    let isEmpty = page.items.records.isEmpty && page.items.deletions.isEmpty
                    if !isEmpty {
                        silence = .zero
                        try await writer.write(
                            ByteBuffer(bytes: Self.event(page.items, page.end.token, people, place))
                        )
                    } else if silence >= Self.silenceMax {
                        silence = .zero
                        try await writer.write(ByteBuffer(string: ":\n\n"))
                    }
                    if !page.end.moreComing {
                        try await Task.sleep(for: interval)
                        silence += interval
                    }
                    // A store that is busy for a moment ends the stream; the browser comes again.
                    guard let next = try? await feed.page(after: page.end.token, fromNow: false) else {
                        break
                    }
                    page = next
                }
                try await writer.finish(nil)
            }
        )
    }

    private static func event(
        _ items: FeedItems,
        _ token: [UInt8],
        _ people: People,
        _ place: Place
    ) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.member("token", TokenText.text(token))
            output.name("changes")
            output.array(items.records) { output, record in
                Self.change(record.id, record.recordType, record.system, people, place, &output)
            }
            output.name("deletions")
            output.array(items.deletions) { output, deleted in
                Self.change(deleted.id, deleted.recordType, nil, people, place, &output)
            }
        }
        return Array("id: \(TokenText.text(token))\ndata: ".utf8) + output.text + Array("\n\n".utf8)
    }

    private static func change(
        _ id: RecordID,
        _ type: String,
        _ system: SystemFields?,
        _ people: People,
        _ place: Place,
        _ output: inout JSONOutput
    ) {
        output.object { output in
            output.member("name", id.recordName)
            output.member("type", type)
            output.member("url", place.recordURL(id).text)
            guard let system else { return }
            output.member("milliseconds", literal: "\(system.modifiedMilliseconds)")
            output.member("by", people.shortName(of: system.modifiedBy))
        }
    }
}
