"""How the file that ``cudbound example`` writes was simulated; the tests compare it with this."""

from __future__ import annotations

import numpy as np

N = 60
SEED = 7
HEADER = "id,age,sex,bmi,creatinine,diabetes,died"


def simulated_patients() -> str:
    """Return the file: death by a logistic model in age, creatinine and diabetes, and no effect of sex and bmi."""
    rng = np.random.default_rng(SEED)
    age = np.clip(rng.normal(63.0, 12.0, N), 32.0, 89.0).round()
    sex = rng.choice(["female", "male"], N)
    bmi = np.clip(rng.normal(27.0, 4.5, N), 17.0, 44.0).round(1)
    creatinine = np.clip(np.exp(rng.normal(0.05, 0.3, N)), 0.4, 4.0).round(2)
    diabetes = (rng.random(N) < 0.3).astype(int)
    score = 0.09 * (age - 63.0) + 1.4 * diabetes + 2.0 * np.log(creatinine) - 0.8
    died = rng.random(N) < 1.0 / (1.0 + np.exp(-score))
    rows = zip(age, sex, bmi, creatinine, diabetes, died, strict=True)
    lines = [
        f"P{number:03d},{a:.0f},{s},{b:.1f},{c:.2f},{d},{'yes' if event else 'no'}"
        for number, (a, s, b, c, d, event) in enumerate(rows, start=1)
    ]
    return "\n".join([HEADER, *lines, ""])


if __name__ == "__main__":
    print(simulated_patients(), end="")
