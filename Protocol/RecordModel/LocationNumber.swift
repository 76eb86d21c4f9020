/// Field numbers of the `Location` message in the `.proto`.
enum LocationNumber: UInt64, CaseIterable {
    case latitude = 1
    case longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp

    var property: WritableKeyPath<Location, Double> {
        switch self {
        case .latitude: \.latitude
        case .longitude: \.longitude
        case .altitude: \.altitude
        case .horizontalAccuracy: \.horizontalAccuracy
        case .verticalAccuracy: \.verticalAccuracy
        case .course: \.course
        case .speed: \.speed
        case .timestamp: \.timestamp
        }
    }
}
