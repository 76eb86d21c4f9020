import Foundation
import NIOHTTP1
import RecordJSON
import RecordModel
import RecordServer

/// The head of a request that may be served.
struct WebCall: Sendable {
    private static let requestIDField = "X-Tidemark-Request-ID"
    /// Values of JSON in a body.
    private static let valuesMax = 200_000

    let route: WebRoute
    let credential: WebCredential
    /// As it was sent.
    private let target: String
    /// The ID that the client gave a change.
    private let requestID: RequestID?

    /// Judges a head.
    init(_ head: HTTPRequestHead, nowMilliseconds: Int64) throws(WebFailure) {
        guard head.headers["Host"].count <= 1 else {
            throw WebFailure(.badRequest, "the request has two fields Host")
        }
        guard head.headers["Origin"].isEmpty else {
            throw WebFailure(.accessDenied, "this version of the server serves no pages in browsers")
        }
        let codings = head.headers[canonicalForm: "Content-Encoding"]
        guard codings.allSatisfy({ $0.lowercased() == "identity" }) else {
            throw WebFailure(.badRequest, "a body must not be compressed", status: .unsupportedMediaType)
        }
        let target = head.uri
        let path = target.prefix { $0 != "?" }
        self.route = try WebRoute(path: path, method: head.method)
        self.credential = try WebCredential(
            head.headers,
            query: Self.query(target.dropFirst(path.count + 1)),
            nowMilliseconds: nowMilliseconds
        )
        self.target = target
        self.requestID = try Self.requestID(head.headers)
    }

    private static func requestID(_ headers: HTTPHeaders) throws(WebFailure) -> RequestID? {
        guard let text = headers.first(name: Self.requestIDField) else { return nil }
        guard let uuid = UUID(uuidString: text), uuid.uuid.6 >> 4 == 7 else {
            throw WebFailure(.badRequest, "\(Self.requestIDField) has to be a UUID of version 7")
        }
        let digits = Array(uuid.uuidString.utf8.filter { $0 != UInt8(ascii: "-") })
        let texts = stride(from: 0, to: digits.count, by: 2).map { digits[$0...($0 + 1)] }
        return RequestID(bytes: texts.compactMap { UInt8(String(decoding: $0, as: UTF8.self), radix: 16) })
    }

    /// The parameters of a query; of one that comes twice, the first.
    private static func query(_ text: Substring) -> [String: String] {
        var parameters: [String: String] = [:]
        for part in text.split(separator: "&") {
            let name = part.prefix { $0 != "=" }
            let value = part.dropFirst(name.count + 1)
            let decoded = value.removingPercentEncoding ?? String(value)
            if parameters[String(name)] == nil { parameters[String(name)] = decoded }
        }
        return parameters
    }

    func claim(body: [UInt8]) -> DoorClaim {
        self.credential.claim(self.route, target: self.target, body: body)
    }

    /// Reads the body.
    ///
    /// A change has the ID of its signature, else the client's, else a new one.
    func request(
        _ body: [UInt8],
        by visitor: Visitor,
        nowMilliseconds: Int64
    ) throws(WebFailure) -> WebRequest {
        var random = SystemRandomNumberGenerator()
        let isEmpty = body.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        let node: JSONNode
        do throws(RecordJSONError) {
            node = try JSONParser.parse(isEmpty ? Array("{}".utf8) : body, valuesLimit: Self.valuesMax)
        } catch {
            throw WebFailure(WebInputError(error))
        }
        do throws(WebInputError) {
            return WebRequest(
                route: self.route,
                visitor: visitor,
                root: try WebObject(node, of: "the body"),
                requestID: self.credential.signature?.requestID ?? self.requestID
                    ?? RequestID(milliseconds: nowMilliseconds, using: &random)
            )
        } catch {
            throw WebFailure(error)
        }
    }
}
