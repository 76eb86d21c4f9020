/// A page of the endpoint at one moment.
package struct EndpointPage: Sendable {
    package enum Status: Sendable {
        case ok
        /// The page has the reason.
        case unavailable
    }

    package let status: Status
    package let contentType: String
    package let text: String

    package init(_ status: Status, contentType: String = "text/plain; charset=utf-8", text: String) {
        self.status = status
        self.contentType = contentType
        self.text = text
    }
}
